"""A result on a terminal: one table a scenario, and what failed below it."""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from benchforge.plugin import CaseSummary, Part, Pivot, Reporter, Summary, Trial, hookimpl
from benchforge.reporters import claims, words
from benchforge.reporters.findings import of_all
from benchforge.reporters.fitted import fitted
from benchforge.reporters.pivots import pivot_table
from benchforge.reporters.search import table_of
from benchforge.reporters.standings import standings
from benchforge.reporters.sweeps import sweeps
from benchforge.reporters.tables import Table, scenarios

_LOG_LINES = 5
_NARROWEST = 20  # columns: narrower texts are not made
_RED = ("\x1b[1;31m", "\x1b[0m")


class Terminal(Reporter):
    """Tables as wide as the terminal; all columns where there is none."""

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
        blocks = [_loud(words.one_line(words.heading(summary)), colour and summary.smoke)]
        if not summary.complete:
            blocks.append(_loud(words.INCOMPLETE, colour))
        if told := words.doubted(summary):
            blocks.append(_loud(_wrapped(told, width), colour))
        above = [
            words.amount(summary),
            *(f"CPUs: {told}" for told in words.placement(trials)),
            *(f"tuning: {told}" for told in words.tuning(trials)),
            words.interpreters(summary),
            words.code(summary),
        ]
        blocks += [_wrapped(told, width) for told in above if told]
        for name, cases in scenarios(summary):
            blocks.append("\n".join(_scenario(name, cases, summary, width, colour)))
        for label, pivot in summary.tables.items():
            blocks.append("\n".join(_pivot(label, pivot, summary, width, colour)))
        if asked := claims.told(summary):
            blocks.append("\n".join(["claims", *_claims(asked, width, colour)]))
        if found := of_all(summary):
            blocks.append("\n".join(_wrapped(one, width) for one in words.in_all(found)))
        blocks += [_wrapped(f"placebo: {told}", width) for told in words.placebos(summary)]
        blocks.append(f"{words.CELLS};\n{words.order(summary)}")
        if last := [_wrapped(one, width) for one in claims.tally(summary)]:
            blocks.append("\n".join(_loud(one, colour) for one in last))
        return "\n\n".join(blocks) + "\n"


def _scenario(
    name: str, cases: Sequence[CaseSummary], summary: Summary, width: int | None, colour: bool
) -> Iterator[str]:
    yield words.one_line(name)
    yield from _list([_wrapped(told, width) for told in words.sought(summary, cases)])
    yield from _table(partial(table_of, cases), width, colour)
    scenario = cases[0].case.scenario
    for told in (standings(summary, scenario), sweeps(summary, scenario)):
        yield from _list([_wrapped(line, width) for line in told])
    yield from _list([_wrapped(found, width) for found in words.findings(cases)])
    for line, failed in words.failures(cases):
        yield "\n" + _loud(words.one_line(line), colour)
        if failed.failure.hint:
            yield f"hint: {words.one_line(failed.failure.hint)}"
        yield from (f"  | {log}" for log in last_lines(failed.failure.log))


def _claims(asked: Sequence[claims.Told], width: int | None, colour: bool) -> Iterator[str]:
    yield ""
    for one in asked:
        yield _loud(_wrapped(one.line, width), colour and one.verdict.state in {"fails", "invalid"})


def _pivot(
    label: str, pivot: Pivot, summary: Summary, width: int | None, colour: bool
) -> Iterator[str]:
    title, what = words.drawn(label, pivot)
    yield words.one_line(title)
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
        titles = ", ".join(words.one_line(column.title) for column in left_out)
        yield "\n" + _wrapped(f"more in report.md: {titles}", width)
    yield from _list([_wrapped(note, width) for note in table.footnotes])


def last_lines(log: str) -> list[str]:
    """Return the end of a log."""
    return words.plain(log).rstrip().splitlines()[-_LOG_LINES:]


def _list(texts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        yield ("" if number else "\n") + text


def _wrapped(text: str, width: int | None) -> str:
    line = words.one_line(text)
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
