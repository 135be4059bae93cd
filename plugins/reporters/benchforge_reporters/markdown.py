"""A result as Markdown: report.md, and raw.md with what each process printed."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from benchforge.plugin import CaseSummary, Part, Pivot, Reporter, Summary, Trial, hookimpl, safe
from benchforge_reporters.raw import raw, trial_folder
from benchforge_reporters.text import claims, words
from benchforge_reporters.text.cells import Cell
from benchforge_reporters.text.commands import first_commands
from benchforge_reporters.text.findings import of_all
from benchforge_reporters.text.pivots import pivot_table
from benchforge_reporters.text.search import table_of, trials_of
from benchforge_reporters.text.standings import pairs, standings
from benchforge_reporters.text.sweeps import sweeps
from benchforge_reporters.text.tables import Table, scenarios


class Markdown(Reporter):
    """The whole summary as Markdown tables, readable as plain text."""

    name: ClassVar[str] = "markdown"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write report.md and raw.md."""
        report, printed = folder / "report.md", folder / "raw.md"
        report.write_text("\n".join(_report(summary, trials)), encoding="utf-8")
        printed.write_text(raw(trials, folder), encoding="utf-8")
        return report, printed


def _report(summary: Summary, trials: Sequence[Trial]) -> Iterator[str]:
    yield f"# {safe.markdown(words.heading(summary))}\n"
    yield from (f"**{safe.markdown(alarm)}**\n" for alarm in words.alarms(summary))
    yield "".join(
        f"- {name}: {safe.markdown(value)}\n" for name, value in words.made(summary, trials)
    )
    yield f"In the tables, {words.CELLS};\n{words.order(summary)}.\n"
    yield from _claims(summary)
    for label, pivot in summary.tables.items():
        yield from _pivot(label, pivot, summary)
    for name, cases in scenarios(summary):
        yield from _scenario(name, cases, summary, trials)
    yield from _list("What speaks against the whole", [one.line for one in of_all(summary)])
    yield from _what_was_run(summary, trials)
    yield from _files(trials)


def _claims(summary: Summary) -> Iterator[str]:
    if not summary.claims:
        return
    yield "## Claims\n"
    yield from (f"**{safe.markdown(one)}**\n" for one in claims.tally(summary))
    if claim_texts := claims.texts(summary):
        yield _row(claims.HEADS)
        yield _row(["---"] * len(claims.HEADS))
        yield from (_row(map(safe.markdown, one.cells)) for one in claim_texts)
        yield ""
        yield from _list("In full", [" ".join(one) for one in claims.sentences(claim_texts)])


def _pivot(label: str, pivot: Pivot, summary: Summary) -> Iterator[str]:
    title, what = words.drawn(label, pivot)
    yield f"## {safe.markdown(title)}\n"
    yield f"{safe.markdown(what)}; also as [CSV](tables/{quote(label)}.csv)\n"
    yield from table_lines(pivot_table(pivot, summary.cases))


def _scenario(
    name: str, cases: Sequence[CaseSummary], summary: Summary, trials: Sequence[Trial]
) -> Iterator[str]:
    yield f"## {safe.markdown(name)}\n"
    yield f"{safe.markdown(words.requested(cases, trials))}\n"
    yield from (f"{safe.markdown(sentence)}\n" for sentence in words.sought(summary, cases))
    yield from table_lines(table_of(cases))
    scenario = cases[0].case.scenario
    yield from _list("Ranks", standings(summary, scenario))
    yield from _list("Each pair, with all others", pairs(summary, scenario))
    yield from _list("At rising concurrency", sweeps(summary, scenario))
    yield "### Every trial\n"
    yield from table_lines(trials_of(cases))
    yield from _list("How each trial's values were formed", words.estimators(cases))
    yield from _list("What the checks found", words.notes(cases))
    if failures := list(words.failures(cases)):
        yield "### Failed trials\n"
        for line, failed in failures:
            yield f"**{safe.markdown(line)}**\n"
            if failed.failure.hint:
                yield f"Hint: {safe.markdown(failed.failure.hint)}\n"
            if failed.failure.log.strip():
                yield safe.fenced(failed.failure.log)


def _list(title: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield f"### {title}\n"
        yield "".join(f"- {safe.markdown(text)}\n" for text in texts)


def table_lines(table: Table) -> Iterator[str]:
    """Yield a table, and its footnotes below it."""
    units = (f" ({column.unit})" if column.unit else "" for column in table.columns)
    heads = [
        *table.heads,
        *(column.title + unit for column, unit in zip(table.columns, units, strict=True)),
    ]
    rows = [[safe.markdown(head) for head in heads]]
    rows += [
        [*(safe.markdown(label) for label in row.labels), *map(_cell, row.cells)]
        for row in table.rows
    ]
    widths = [max(4, *map(len, column)) for column in zip(*rows, strict=True)]
    left = len(table.heads)
    rule = ["-" * width for width in widths[:left]]
    rows.insert(1, rule + [f"{'-' * (width - 1)}:" for width in widths[left:]])
    for row_ in rows:  # aligned, for those who read it as it stands
        yield _row(
            word.ljust(width) if place < left else word.rjust(width)
            for place, (word, width) in enumerate(zip(row_, widths, strict=True))
        )
    yield ""
    if table.footnotes:
        yield "".join(f"{safe.markdown(note)}  \n" for note in table.footnotes)


def _row(words_: Iterable[str]) -> str:
    return f"| {' | '.join(words_)} |"


def _cell(cell: Cell) -> str:
    parts = (f"{safe.markdown(value)} {spread}".strip() for value, spread in cell.parts)
    return "<br>".join(f"**{part}**" if cell.loud else part for part in parts)


def _what_was_run(summary: Summary, trials: Sequence[Trial]) -> Iterator[str]:
    yield "## What was run\n"
    for title, processes in first_commands(summary, trials):
        yield f"{safe.markdown(title)}:\n"
        yield safe.fenced(processes, "sh")
    if environment := words.environment(summary):
        yield _row(["", ""])
        yield _row(["---", "---"])
        yield from (
            _row([safe.markdown(name), safe.markdown(value)]) for name, value in environment
        )
        yield ""


def _files(trials: Sequence[Trial]) -> Iterator[str]:
    yield "## Files\n"
    yield "- [result.json](result.json): the suite, the plan, the environment"
    yield "- [raw.md](raw.md): each command, and what it printed"
    yield "- summary.json: every number of this report, with every trial's value"
    if trials:
        first, last = trial_folder(trials[0]), trial_folder(trials[-1])
        yield f"- {first}/ to {last}/: trial.json and what each process printed"
    yield ""


@hookimpl
def benchforge_parts() -> Iterable[type[Part]]:
    """Bring Markdown."""
    return [Markdown]
