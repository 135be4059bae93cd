"""Servers with their levels, a line each; of many comparisons and claims, a line for each."""

from collections.abc import Iterator, Sequence
from typing import Final

from benchforge.plugin import readable, safe
from benchforge_reporters.document.answers import SIGNS, ComparisonAnswer
from benchforge_reporters.document.claims import STATES, ClaimLine, counted_states
from benchforge_reporters.document.cpu_time import shares
from benchforge_reporters.document.levels import LevelRow, Levels
from benchforge_reporters.document.overview import MatrixRow, Overview
from benchforge_reporters.terminal.paint import Paint

_LEGEND: Final = "├──●──┤ geometric mean of the blocks and its 95 % interval, on an axis from zero"
_ALONE: Final = "● alone: geometric mean of the trials"
_PAPER = 100
_WIDE = 110  # columns from which on the shares of CPU time have room
_BARS = (10, 40)  # columns
_NAMES = 30
_VALUE, _RANK, _TIME, _CPU = 11, 5, 10, 13
_ROLES: Final = ("server", "upstream", "backend", "loader")
LEGEND: Final = (
    "in per cent of the best; * was not found to differ from the best; "
    "! has a reservation: benchforge report --open"
)
_LABELS = 26  # columns
_ROOMY = 100  # columns from which on the hypothesis of a claim has room


def legend(tables: Sequence[Levels]) -> str:
    """Return what the signs and columns mean, and which are left out."""
    rows = [row for table in tables for row in table.rows]
    parts = [_LEGEND]
    parts += [_ALONE] * any(row.interval is None for row in rows)
    parts += ["~ rests on few responses"] * any(row.thin for row in rows)
    parts += ["CPU/request of all parts"] * any(row.cpu for row in rows)
    parts += ["no request failed"] * all(table.failed == 0 for table in tables)
    return "; ".join((*parts, *dict.fromkeys(text for table in tables for text in table.unknown)))


def level_lines(tables: Sequence[Levels], paint: Paint) -> Iterator[str]:
    """Yield one table of all comparisons, with the name of each above its servers."""
    width = paint.width or _PAPER
    names = [safe.line(row.server) for table in tables for row in table.rows]
    names += [safe.line(table.label) for table in tables]
    name = min(_NAMES, max(map(len, names))) + 1
    times = any(table.latency for table in tables)
    costs = any(row.cpu for table in tables for row in table.rows)
    shared = costs and width >= _WIDE
    taken = name + _RANK + _VALUE + 2 + (_TIME * times) + (_CPU * costs) + (24 * shared)
    bar = max(_BARS[0], min(_BARS[1], width - taken - 1))
    for number, table in enumerate(tables):
        head = "" if number else "rank".rjust(_RANK) + safe.line(table.unit).rjust(_VALUE)
        end = readable.figure(float(f"{table.top:.2g}"))
        line = head.ljust(_RANK + _VALUE) + "  0" + end.rjust(bar - 1)
        line += table.latency.rjust(_TIME) if times else ""
        line += "CPU/request".rjust(_CPU) if costs and not number else ""
        line += f"  {'server + backend + load tool'[:24]}" if shared and not number else ""
        title = _fit(safe.line(table.label), name)
        yield (paint.of("heading", title) + paint.of("aside", line)).rstrip()
        for row in table.rows:
            text = _fit(safe.line(row.server), name) + row.rank.rjust(_RANK)
            text += readable.figure(row.value).rjust(_VALUE) + "  " + _bar(row, table.top, bar)
            text += _time(row).rjust(_TIME) if times else ""
            text += _cpu(row).rjust(_CPU) if costs else ""
            text += paint.of("aside", f"  {_shares(row)}") if shared else ""
            yield text.rstrip()
        if table.failed:
            failed = readable.figure(table.failed)
            yield paint.of("bad", f"! failed requests: up to {failed} in a trial")


def _fit(text: str, width: int) -> str:
    return (text if len(text) < width else f"{text[: width - 4]}...").ljust(width)


def _bar(row: LevelRow, top: float, width: int) -> str:
    """Return an interval on a line from zero to the top."""

    def at(value: float) -> int:
        return min(width - 1, max(0, round(value / top * (width - 1)))) if top > 0 else 0

    cells = ["▏", *" " * (width - 1)]
    if row.interval is not None:
        low, high = map(at, row.interval)
        cells[low : high + 1] = "─" * (high + 1 - low)
        cells[low], cells[high] = "├", "┤"
    cells[at(row.value)] = "●"
    return "".join(cells)


def _time(row: LevelRow) -> str:
    if row.latency is None:
        return "unknown"
    return ("~" if row.thin else "") + readable.amount("s", row.latency)


def _cpu(row: LevelRow) -> str:
    return readable.amount("s", sum(row.cpu.values())) if row.cpu else "unknown"


def _shares(row: LevelRow) -> str:
    by_role = shares(row.cpu)
    return " + ".join(f"{100 * by_role[role]:.0f} %" for role in _ROLES if role in by_role)


def tally(overview: Overview, claims: Sequence[ClaimLine], paint: Paint) -> Iterator[str]:
    """Yield the numbers of claims that hold, and of published values that are excluded."""
    if claims:
        text = f"{readable.counted(len(claims), 'claim')}: {counted_states(claims)}"
        yield from paint.lines("heading", text)
    if overview.of_sources:
        yield from paint.wrapped(overview.of_sources)


def matrix(overview: Overview, answers: Sequence[ComparisonAnswer], paint: Paint) -> Iterator[str]:
    """Yield each comparison in a line, its servers in per cent of the best."""
    rows = {row.answer.label: row for row in overview.rows}
    width = min(_LABELS, max((len(safe.line(answer.label)) for answer in answers), default=0))
    for answer in answers:
        sign, meaning, *_ = SIGNS[answer.state]
        start = f"{sign} {safe.line(answer.label).ljust(width)}  "
        row = rows.get(answer.label)
        text = answer.headline if row is None else _row(row)
        yield from paint.signed(meaning, text, start, " " * (width + 4))
    if overview.rows:
        yield from paint.lines("aside", LEGEND)


def claim_rows(claims: Sequence[ClaimLine], paint: Paint) -> Iterator[str]:
    """Yield a line for each claim: the estimate, and what was published."""
    name = min(_LABELS, max(len(safe.line(claim.name)) for claim in claims))
    for claim in claims:
        sign, meaning, *_ = STATES[claim.state]
        start = f"{sign} {safe.line(claim.name).ljust(name)}  "
        remark = claim.remark if claim.state == "not comparable" else ""
        hypothesis = f"{claim.hypothesis}: " if (paint.width or _ROOMY) >= _ROOMY else ""
        valued = claim.verdict.estimate.value is not None
        estimate = claim.estimate if valued else claim.estimate.partition(": ")[0]
        texts = (f"{hypothesis}{estimate}", claim.source, remark)
        yield from paint.signed(meaning, "; ".join(filter(None, texts)), start, " " * (name + 4))


def _row(row: MatrixRow) -> str:
    first, *others = row.cells
    texts = (f"{cell.server} {cell.text}{'*' if cell.tied else ''}" for cell in others)
    return ", ".join((f"{first.server} 100 ({row.best})", *texts))
