"""A result on a terminal: answers, one table, claims, what limits them, and all about that."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Final

from benchforge.plugin import FoldedFinding, Reporter, Summary, Trial, readable, safe
from benchforge_reporters.document.answers import SIGNS, ComparisonAnswer
from benchforge_reporters.document.causes import SIGNS as CAUSE_SIGNS
from benchforge_reporters.document.causes import CauseText, CauseTexts
from benchforge_reporters.document.claims import STATES, ClaimLine, counted_states
from benchforge_reporters.document.cpu_time import shares
from benchforge_reporters.document.document import ResultDocument, Section, SuiteTable, document
from benchforge_reporters.document.levels import LevelRow, Levels
from benchforge_reporters.document.overview import MatrixRow, Overview
from benchforge_reporters.terminal.paint import Paint
from benchforge_reporters.text.pivots import pivot_table
from benchforge_reporters.text.search import table_of
from benchforge_reporters.text.tables import NOT_BY_KIND, Table, kind_table, kinds_heading
from benchforge_reporters.text.words import lost

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
        yield from paint.begun((meaning, sign), "plain", text, start, " " * (width + 4))
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
        text = "; ".join(filter(None, (f"{hypothesis}{estimate}", claim.source, remark)))
        yield from paint.begun((meaning, sign), "plain", text, start, " " * (name + 4))


def _row(row: MatrixRow) -> str:
    first, *others = row.cells
    texts = (f"{cell.server} {cell.text}{'*' if cell.tied else ''}" for cell in others)
    return ", ".join((f"{first.server} 100 ({row.best})", *texts))


_LOG_LINES = 5
_DEEPEST = 24  # columns of an indent
_MOST = 12  # trials that are named


class Terminal(Reporter):
    """Answers, a table, claims and causes, as wide as the terminal."""

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
        return self._written(summary, trials, Paint(width, colour))

    def _written(self, summary: Summary, trials: Sequence[Trial], paint: Paint) -> str:
        report = document(summary, trials)
        blocks = (
            _top(report, paint),
            _answers(report, paint),
            paint.lines("heading", *report.latencies.values()),
            *_sections(report, paint),
            *(_suite_table(table, summary, paint) for table in report.tables),
            _claims(report, paint),
            _causes(report, paint),
            paint.lines("do", report.next_step, report.launches),
        )
        texts = ("\n".join(block).strip("\n") for block in blocks)
        return "\n\n".join(filter(None, texts)) + "\n"


def _top(report: ResultDocument, paint: Paint) -> Iterator[str]:
    heading = report.heading if report.smoke else report.title
    yield from paint.lines("heading", heading)
    turns = (text for name, text in report.made if name == "in turns")
    yield from paint.lines("aside", report.origin, report.scope, *report.setting, *turns)
    yield from paint.lines("bad", *report.alarms[report.smoke :])  # the heading has that of a smoke
    if report.overview is not None:
        yield ""
        yield from tally(report.overview, report.claims, paint)


def _answers(report: ResultDocument, paint: Paint) -> Iterator[str]:
    if not report.answers:
        return
    if report.overview is not None:
        yield from matrix(report.overview, report.answers, paint)
        return
    label = max(len(safe.line(answer.label)) for answer in report.answers)
    for answer in report.answers:
        sign, meaning, *_ = SIGNS[answer.state]
        start, indent = f"{sign} {safe.line(answer.label).ljust(label)}  ", " " * (label + 4)
        yield from paint.begun((meaning, sign), "heading", answer.headline, start, indent)
        for sentence in answer.sentences:
            yield from paint.wrapped(sentence, indent, indent)


def _sections(report: ResultDocument, paint: Paint) -> Iterator[Iterable[str]]:
    """Yield one table of all that has levels, and one each of what has none."""
    sections = [section for section in report.sections if section.scenario not in report.latencies]
    rows = [level for section in sections for level in section.levels]
    if rows and report.overview is None:
        yield [*level_lines(rows, paint), *paint.lines("aside", legend(rows))]
    for section in sections:
        if lines := list(_section(section, paint, brief=report.overview is not None)):
            yield lines
    if report.overview is None and not all(section.levels for section in sections):
        cells, order = report.reading
        yield paint.lines("plain", f"{cells};", order)


def _section(section: Section, paint: Paint, *, brief: bool) -> Iterator[str]:
    """Yield what the table of levels does not have; if `brief`, sweeps and failures only."""
    if not section.levels and not brief:
        yield from paint.lines("plain", section.title, *section.sought)
        yield from _table(partial(table_of, section.cases), paint)
        yield ""
    if section.kinds is not None:
        yield paint.of("heading", safe.line(f"{section.scenario}, {kinds_heading(section.cases)}"))
        yield from _table(lambda first: kind_table(section.cases, first) or section.table, paint)
        yield from paint.lines("plain", *section.flows, NOT_BY_KIND)
        yield ""
    if section.stages:
        yield paint.of("heading", safe.line(f"{section.scenario}, by stage of the load"))
        yield from paint.lines("plain", *section.stages)
        yield ""
    sentences = section.sweeps if section.levels or brief else (*section.ranks, *section.sweeps)
    yield from paint.lines("plain", *sentences)
    lines = {failed.trial: line for line, failed in section.failures}
    for case in section.cases:
        if not (failed := lost(case)):
            continue
        failure = failed[-1].failure
        yield paint.of("bad", safe.line(lines[failed[-1].trial]))
        if failure.hint:
            yield f"hint: {safe.line(failure.hint)}"
        yield from (f"  | {log}" for log in last_lines(failure.log))
        if len(failed) > 1:
            more = readable.counted(len(failed) - 1, "more trial")
            yield f"{more} of this case failed: report.md lists them"


def _suite_table(table: SuiteTable, summary: Summary, paint: Paint) -> Iterator[str]:
    yield paint.of("heading", safe.line(table.title))
    yield from paint.wrapped(table.content)
    yield from _table(partial(pivot_table, summary.tables[table.label], summary.cases), paint)


def _table(made: Callable[[int | None], Table], paint: Paint) -> Iterator[str]:
    # It imports rich, which takes longer than most commands.
    from benchforge_reporters.terminal.fitted import fitted  # noqa: PLC0415

    table = made(None)
    text, left_out = fitted(table, paint.width, paint.colour)
    if left_out:
        table = made(len(table.columns) - len(left_out))
        text, _ = fitted(table, paint.width, paint.colour)
    yield f"\n{text}"
    if left_out:
        yield ""
        titles = ", ".join(safe.line(column.title) for column in left_out)
        yield from paint.wrapped(f"more in report.md: {titles}")
    for number, note in enumerate(table.footnotes):
        yield from [""] * (not number)
        yield from paint.wrapped(note)


def _claims(report: ResultDocument, paint: Paint) -> Iterator[str]:
    if not report.claims:
        yield from paint.lines("plain", *report.tally)
        return
    if report.overview is not None:
        yield paint.of("heading", "Claims")
        yield from claim_rows(report.claims, paint)
    else:
        yield f"{paint.of('heading', 'Claims')}  {counted_states(report.claims)}"
        yield from _claims_in_full(report.claims, paint)
        yield from paint.lines("aside", report.claims_note, first="  ")


def _claims_in_full(claims: Sequence[ClaimLine], paint: Paint) -> Iterator[str]:
    name = max(len(safe.line(claim.name)) for claim in claims)
    for claim in claims:
        sign, meaning, verb, _ = STATES[claim.state]
        parts = [claim.estimate, claim.source, claim.remark]
        if claim.state == "not comparable":
            parts = [claim.remark, claim.estimate, claim.source]
        text = f"{claim.hypothesis} {verb}: {'; '.join(filter(None, parts))}"
        start = f"  {sign} {safe.line(claim.name).ljust(name)}  "
        indent = " " * min(len(start), _DEEPEST)
        yield from paint.begun((meaning, f"  {sign}"), "plain", text, start, indent)


def _causes(report: ResultDocument, paint: Paint) -> Iterator[str]:
    causes = report.causes
    if report.answers:
        start, answer = "May I quote it?  ", report.quotable
        yield from paint.begun(("heading", start), answer.state, answer.sentence, start)
    elif causes.all:
        yield paint.of("heading", "What the checks found")
    for text in causes.shown:
        sign, meaning, _ = CAUSE_SIGNS[text.kind]
        start = f"  {paint.of(meaning, sign)} {paint.of('aside', safe.line(text.id).ljust(3))} "
        yield start + safe.line(text.brief)
        yield from paint.lines("do", text.remedy and f"→ {text.remedy}", first=" " * 8)
    if causes.others:
        more = f"{readable.counted(len(causes.others), 'more finding')}{causes.of_others}: "
        more += "benchforge report --why"
        yield from paint.lines("aside", more, first="  ")


def last_lines(log: str) -> list[str]:
    """Return the end of a log."""
    return safe.text(log).rstrip().splitlines()[-_LOG_LINES:]


class Why(Terminal):
    """Each cause of findings, with all that follows from it."""

    name: ClassVar[str] = "why"

    def _written(self, summary: Summary, trials: Sequence[Trial], paint: Paint) -> str:
        """Return each cause with its findings: where, in which trials, and the limit."""
        causes = CauseTexts(summary, trials).all
        unknown = [cause for cause in causes if _is_unknown(cause)]
        blocks = ["\n".join(_explained(text, paint)) for text in causes if text not in unknown]
        if unknown:
            blocks.append("\n".join(_not_seen(unknown, paint)))
        return "\n\n".join(blocks or ["no check found anything"]) + "\n"


def _is_unknown(text: CauseText) -> bool:
    """Return whether a cause is only that checks could not look, and limits no answer."""
    statuses = {finding.check.status for finding in text.cause.findings}
    return text.kind == "expert" and statuses <= {"unknown"}


def _not_seen(texts: Sequence[CauseText], paint: Paint) -> Iterator[str]:
    yield paint.of("heading", "Not known, which limits no answer")
    for text in texts:
        groups = groupby(text.cause.findings, lambda each: each.check.because or each.check.id)
        for findings in (list(alike) for _, alike in groups):
            first = findings[0].check
            names = dict.fromkeys(f"{each.check.id} {each.check.name}".strip() for each in findings)
            count = sum(finding.count for finding in findings if finding.check.id == first.id)
            times = f" ({readable.counted(count, 'finding')})" if count > 1 else ""
            line = f"{readable.conjoined(names)}: {first.message}{times}"
            yield from paint.wrapped(line, "  - ", "    ")


def _explained(text: CauseText, paint: Paint) -> Iterator[str]:
    sign, meaning, words = CAUSE_SIGNS[text.kind]
    if text.kind == "expert":  # its findings are all that there is to say
        yield paint.of(meaning, sign) + paint.of("heading", f" {text.id}, {words}")
    else:
        title = f"{text.id}: {text.brief}"
        yield from paint.begun((meaning, sign), "heading", title, f"{sign} ")
        yield from paint.wrapped(f"{words}: {text.effect}", "  ")
        yield from paint.lines("do", text.remedy and f"→ {text.remedy}", first="  ", rest="    ")
        if text.cause.verdicts:
            against = f"speaks against: {readable.listed(text.cause.verdicts)}"
            yield from paint.wrapped(against, "  ")
    for alike in text.outcomes:
        yield from _of_check(alike, paint)


def _of_check(findings: Sequence[FoldedFinding], paint: Paint) -> Iterator[str]:
    first = findings[0].check
    count = sum(finding.count for finding in findings)
    named = f"{first.id} {first.name}".strip()
    title = f"{first.status} {named}, {readable.counted(count, 'finding')}"
    yield from paint.wrapped(f"{title}; {first.threshold}" if first.threshold else title, "  ")
    for finding in findings:
        where = finding.case or finding.scenario or "the whole result"
        numbers = readable.listed((str(number) for number in finding.trials), _MOST)
        trials = f", trials {numbers}" if finding.trials else ""
        yield from paint.wrapped(f"{where}{trials}: {finding.check.message}", "    - ", "      ")
