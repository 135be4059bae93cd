"""A result on a terminal: one table a scenario, and what failed below it."""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from benchforge.plugin import CaseSummary, Part, Pivot, Reporter, Summary, Trial, hookimpl, safe
from benchforge_reporters.fitted import fitted
from benchforge_reporters.text import claims, words
from benchforge_reporters.text.findings import of_all
from benchforge_reporters.text.pivots import pivot_table
from benchforge_reporters.text.search import table_of
from benchforge_reporters.text.standings import standings
from benchforge_reporters.text.sweeps import sweeps
from benchforge_reporters.text.tables import Table, scenarios

_LOG_LINES = 5
_NARROWEST = 20  # columns: narrower texts are not made
_RED = ("\x1b[1;31m", "\x1b[0m")


class Terminal(Reporter):
    """Tables as wide as the terminal; without a terminal, all columns."""

    name: ClassVar[str] = "terminal"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write no file: this form is for the eye."""
        return ()

    def text(
        self,
        summary: Summary,
        trials: Sequence[Trial],
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """Return the result as text; a number is never cut to fit a width."""
        blocks = [_loud(safe.line(words.heading(summary)), colour and summary.smoke)]
        if not summary.complete:
            blocks.append(_loud(words.INCOMPLETE, colour))
        if doubts := words.doubted(summary):
            blocks.append(_loud(_wrapped(doubts, width), colour))
        above = [
            words.amount(summary),
            *(f"CPUs: {text}" for text in words.placement(trials)),
            *(f"tuning: {text}" for text in words.tuning(trials)),
            words.interpreters(summary),
            words.code(summary),
        ]
        blocks += [_wrapped(text, width) for text in above if text]
        for name, cases in scenarios(summary):
            blocks.append("\n".join(_scenario(name, cases, summary, width, colour)))
        for label, pivot in summary.tables.items():
            blocks.append("\n".join(_pivot(label, pivot, summary, width, colour)))
        if claim_texts := claims.texts(summary):
            blocks.append("\n".join(["claims", *_claims(claim_texts, width, colour)]))
        if groups := of_all(summary):
            blocks.append("\n".join(_wrapped(one, width) for one in words.in_all(groups)))
        blocks += [_wrapped(f"placebo: {text}", width) for text in words.placebos(summary)]
        blocks.append(f"{words.CELLS};\n{words.order(summary)}")
        if last := [_wrapped(one, width) for one in claims.tally(summary)]:
            blocks.append("\n".join(_loud(one, colour) for one in last))
        return "\n\n".join(blocks) + "\n"


def _scenario(
    name: str, cases: Sequence[CaseSummary], summary: Summary, width: int | None, colour: bool
) -> Iterator[str]:
    yield safe.line(name)
    yield from _list([_wrapped(text, width) for text in words.sought(summary, cases)])
    yield from _table(partial(table_of, cases), width, colour)
    scenario = cases[0].case.scenario
    for sentences in (standings(summary, scenario), sweeps(summary, scenario)):
        yield from _list([_wrapped(line, width) for line in sentences])
    yield from _list([_wrapped(text, width) for text in words.findings(cases)])
    for line, failed in words.failures(cases):
        yield "\n" + _loud(safe.line(line), colour)
        if failed.failure.hint:
            yield f"hint: {safe.line(failed.failure.hint)}"
        yield from (f"  | {log}" for log in last_lines(failed.failure.log))


def _claims(
    claim_texts: Sequence[claims.ClaimText], width: int | None, colour: bool
) -> Iterator[str]:
    yield ""
    for claim_text in claim_texts:
        yield _loud(
            _wrapped(claim_text.line, width),
            colour and claim_text.verdict.state in {"fails", "invalid"},
        )


def _pivot(
    label: str, pivot: Pivot, summary: Summary, width: int | None, colour: bool
) -> Iterator[str]:
    title, what = words.drawn(label, pivot)
    yield safe.line(title)
    yield _wrapped(what, width)
    yield from _table(partial(pivot_table, pivot, summary.cases), width, colour)


def _table(made: Callable[[int | None], Table], width: int | None, colour: bool) -> Iterator[str]:
    """Yield a table with as many of its first columns as fit, and its footnotes."""
    table = made(None)
    text, left_out = fitted(table, width, colour)
    if left_out:
        table = made(len(table.columns) - len(left_out))
        text, _ = fitted(table, width, colour)
    yield f"\n{text}"
    if left_out:
        titles = ", ".join(safe.line(column.title) for column in left_out)
        yield "\n" + _wrapped(f"more in report.md: {titles}", width)
    yield from _list([_wrapped(note, width) for note in table.footnotes])


def last_lines(log: str) -> list[str]:
    """Return the end of a log."""
    return safe.text(log).rstrip().splitlines()[-_LOG_LINES:]


def _list(texts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield ("" if number else "\n") + text


def _wrapped(text: str, width: int | None) -> str:
    line = safe.line(text)
    if width is None or len(line) <= width:
        return line
    return textwrap.fill(
        line,
        max(width, _NARROWEST),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _loud(text: str, colour: bool) -> str:
    return text.join(_RED) if colour else text


@hookimpl
def benchforge_parts() -> Iterable[type[Part]]:
    """Bring the terminal."""
    return [Terminal]
