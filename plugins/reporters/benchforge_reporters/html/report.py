"""A result as a page: report.html, one file that opens without a network."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from benchforge.plugin import CaseSummary, Part, Pivot, Reporter, Summary, Trial, hookimpl, safe
from benchforge_reporters.html.attempts import attempts
from benchforge_reporters.html.curves import curve
from benchforge_reporters.html.dots import dots
from benchforge_reporters.html.page import page
from benchforge_reporters.text import claims, words
from benchforge_reporters.text.cells import Cell
from benchforge_reporters.text.commands import first_commands
from benchforge_reporters.text.findings import of_all
from benchforge_reporters.text.pivots import pivot_table
from benchforge_reporters.text.search import table_of, trials_of
from benchforge_reporters.text.standings import pairs, standings
from benchforge_reporters.text.sweeps import sweeps
from benchforge_reporters.text.tables import Column, Table, TableRow, scenarios


class Html(Reporter):
    """The whole summary as an HTML page, with every trial as a dot."""

    name: ClassVar[str] = "html"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write report.html."""
        report = folder / "report.html"
        body = "\n".join(_body(summary, trials))
        report.write_text(page(safe.line(words.heading(summary)), body), encoding="utf-8")
        return (report,)


def _body(summary: Summary, trials: Sequence[Trial]) -> Iterator[str]:
    yield f"<h1>{_safe(summary.title or summary.name)}</h1>"
    yield from (f'<p class="banner">{_safe(alarm)}</p>' for alarm in words.alarms(summary))
    yield from _facts("How it was made", [("suite", summary.name), *words.made(summary, trials)])
    yield f"<p>In the tables, {_safe(words.CELLS)}; {_safe(words.order(summary))}.</p>"
    yield from _claims(summary)
    for label, pivot in summary.tables.items():
        yield from _pivot(label, pivot, summary)
    for name, cases in scenarios(summary):
        yield from _scenario(name, cases, summary, trials)
    yield from _list("What speaks against the whole", [one.line for one in of_all(summary)])
    yield from _what_was_run(summary, trials)


def _claims(summary: Summary) -> Iterator[str]:
    if not summary.claims:
        return
    yield "<section><h2>Claims</h2>"
    yield from (f'<p class="loud">{_safe(one)}</p>' for one in claims.tally(summary))
    if claim_texts := claims.texts(summary):
        yield '<div class="scroll" role="region" tabindex="0" aria-label="Claims">'
        yield f"<table><thead><tr>{''.join(map(_column_head, claims.HEADS))}</tr></thead><tbody>"
        for claim_text in claim_texts:
            state, *cells = map(_safe, claim_text.cells)
            row = "".join(f'<td class="words">{cell}</td>' for cell in cells)
            yield f'<tr><th scope="row">{state}</th>{row}</tr>'
        yield "</tbody></table></div>"
    for title, text in claims.sentences(claim_texts):
        yield f"<p><b>{_safe(title)}</b> {_safe(text)}</p>"
    yield "</section>"


def _column_head(title: str) -> str:
    return f'<th scope="col">{_safe(title)}</th>'


def _pivot(label: str, pivot: Pivot, summary: Summary) -> Iterator[str]:
    title, what = words.drawn(label, pivot)
    yield f"<section><h2>{_safe(title)}</h2>"
    yield from _table(pivot_table(pivot, summary.cases), what, row_heads=len(pivot.rows))
    yield f'<p class="dim">The same for other programs: tables/{_safe(label)}.csv</p></section>'


def _scenario(
    name: str, cases: Sequence[CaseSummary], summary: Summary, trials: Sequence[Trial]
) -> Iterator[str]:
    yield f"<section><h2>{_safe(name)}</h2>"
    yield f'<p class="dim">{_safe(words.requested(cases, trials))}</p>'
    yield from (
        f'<p class="dim">{_safe(sentence)}</p>' for sentence in words.sought(summary, cases)
    )
    table = table_of(cases)
    yield from _table(table, "Medians and spreads" if table.columns else "What was found")
    yield from _failures(cases)
    scenario = cases[0].case.scenario
    yield from _list("Ranks", standings(summary, scenario))
    yield from _list("Each pair, with all others", pairs(summary, scenario))
    yield from _list("At rising concurrency", sweeps(summary, scenario))
    yield from (curve(one) for one in summary.sweeps if one.scenario == scenario)
    if drawn := _drawn_column(table, cases):
        yield dots(drawn, cases, table)
    yield attempts(cases)
    yield "<details><summary>Every trial</summary>"
    yield from _table(trials_of(cases), "Every trial's values")
    yield from _list("How each trial's values were formed", words.estimators(cases))
    yield "</details>"
    yield from _list("What the checks found", words.notes(cases))
    yield "</section>"


def _list(title: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield f"<h3>{_safe(title)}</h3><ul>"
        yield from (f"<li>{_safe(text)}</li>" for text in texts)
        yield "</ul>"


def _failures(cases: Sequence[CaseSummary]) -> Iterator[str]:
    failures = list(words.failures(cases))
    if failures:
        yield "<h3>Failed trials</h3>"
    for line, failed in failures:
        yield f'<div class="failed"><p class="loud">{_safe(line)}</p>'
        if failed.failure.hint:
            yield f"<p>Hint: {_safe(failed.failure.hint)}</p>"
        if failed.failure.log.strip():
            yield f"<pre>{safe.html_lines(failed.failure.log)}</pre>"
        yield "</div>"


def _drawn_column(table: Table, cases: Sequence[CaseSummary]) -> Column | None:
    """The throughput, or what the suite names first."""
    of_one_line = [column for column in table.columns if not column.in_one_cell]
    throughput = (
        column
        for column in of_one_line
        if any(
            line.measurand == "responses per second"
            for case in cases
            for line in column.lines(case)
        )
    )
    return next(throughput, of_one_line[0] if of_one_line else None)


def _table(table: Table, caption: str, row_heads: int = 1) -> Iterator[str]:
    # A wide table scrolls in its own frame, which the keyboard can reach.
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{_safe(caption)}">'
    yield f"<table><caption>{_safe(caption)}</caption><thead>"
    yield from _heads(table)
    yield "</thead><tbody>"
    yield from (_row(row, row_heads) for row in table.rows)
    yield "</tbody></table></div>"
    yield from (f'<p class="dim">{_safe(note)}</p>' for note in table.footnotes)


def _heads(table: Table) -> Iterator[str]:
    """Yield a row for each level: what is the same above neighbours stands there once."""
    depth = len(table.columns[0].levels) if table.columns else 1
    rows = f' rowspan="{depth}"' if depth > 1 else ""
    for level in range(depth):
        yield "<tr>"
        if not level:
            yield from (f'<th scope="col"{rows}>{_safe(head)}</th>' for head in table.heads)
        for columns in _alike(table.columns, level, depth):
            yield _head(columns[0], level, len(columns), lowest=level == depth - 1)
        yield "</tr>"


def _alike(columns: Sequence[Column], level: int, depth: int) -> list[Sequence[Column]]:
    """Return the neighbours that one head stands above; on the lowest level, each column alone."""
    if level == depth - 1:
        return [[column] for column in columns]
    return [list(alike) for _, alike in groupby(columns, lambda column: column.levels[: level + 1])]


def _head(column: Column, level: int, width: int, *, lowest: bool) -> str:
    unit = f'<br><span class="unit">{_safe(column.unit)}</span>' if lowest and column.unit else ""
    spans = f' colspan="{width}"' if width > 1 else ""
    return f'<th scope="col" class="number"{spans}>{_safe(column.levels[level])}{unit}</th>'


def _row(row: TableRow, row_heads: int) -> str:
    heads = "".join(f'<th scope="row">{_safe(label)}</th>' for label in row.labels[:row_heads])
    others = "".join(f"<td>{_safe(label)}</td>" for label in row.labels[row_heads:])
    return f"<tr>{heads}{others}{''.join(map(_cell, row.cells))}</tr>"


def _cell(cell: Cell) -> str:
    style = " loud" if cell.loud else "" if cell.all_known else " unknown"
    parts = (
        _safe(value) + (f"<br><small>{_safe(spread)}</small>" if spread else "")
        for value, spread in cell.parts
    )
    return f'<td class="number{style}">{"<br>".join(parts)}</td>'


def _what_was_run(summary: Summary, trials: Sequence[Trial]) -> Iterator[str]:
    yield "<section><h2>What was run</h2>"
    yield from _facts("Versions, and the machine", words.environment(summary))
    for title, commands in first_commands(summary, trials):
        yield f"<details><summary>Commands: {_safe(title)}</summary>"
        yield f"<pre>{safe.html_lines(commands)}</pre></details>"
    yield (
        "<p>Beside this page: result.json (the suite, the plan), summary.json (every number), "
        "trials/ (what each process printed), and raw.md, which tells all commands.</p></section>"
    )


def _facts(caption: str, facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    if facts:
        yield f'<table class="facts"><caption>{_safe(caption)}</caption><tbody>'
        for name, value in facts:
            yield f'<tr><th scope="row">{_safe(name)}</th>'
            yield f'<td class="words">{_safe(value)}</td></tr>'
        yield "</tbody></table>"


def _safe(text: str) -> str:
    return safe.html(text)


@hookimpl
def benchforge_parts() -> Iterable[type[Part]]:
    """Bring the page."""
    return [Html]
