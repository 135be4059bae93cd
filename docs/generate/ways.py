"""The section of docs/validity.md on each check in each way in which a trial is made.

A cell is what benchforge says of a recorded trial of that way: the checks are formed again.
"""

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

from benchforge.checks import ask
from benchforge.checks.limits import limits
from benchforge.checks.machine.calibrated import limits_of
from benchforge.checks.summary import concluded, with_checks
from benchforge.checks.ways import Way, reason, unjudged, way_of, way_of_comparison
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.results.conclude import installed_metrics
from docs.generate.faults import fault_of, planted_in
from docs.generate.text import plain, table

PAGE = Path(__file__).parents[1] / "validity.md"
RECORDED = Path(__file__).parents[2] / "tests/checks/recorded"
JUDGED = "value"
UNPLANTED = "it is judged; its fault was planted in made trials, and in no recorded one of this way"
WAYS: Sequence[Way] = get_args(Way)
TOOLS = "tools"
"The scenario of the recorded trials in which load tools differ and nothing else."
PLACEBO = "S4"
_SECTION_TITLE = "## Each check in each way\n"
_FOUND = re.compile(r"\| ([A-Z][0-9]+) [\w-]+: (?:warn|fail) \|")
_SECTION = re.compile(rf"^{_SECTION_TITLE}.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_ABOUT = """\
## Each check in each way

A trial is made *alone*, *in turns* with those of other servers, by `duel` or `gate`, *on hosts*, or
against a server that does nothing (*ceiling*). A cell has a *value* if the check passed, warned or
failed in a recorded trial of that way, and finds a fault that is planted in what was recorded
([faults.py](generate/faults.py)). Else it is *unknown*, and the number leads to the reason,
in the words of the report. Of a check in *italics* no test has planted a fault in a run: all others
are in the first table of this page. `make docs` draws both tables from the recordings in
`tests/checks/recorded`, by the checks as they are.
"""
_OF_TOOLS = """\
Alone, these checks also depend on what a load tool reports. Of all others, these load tools
report enough.
"""


class Row(NamedTuple):
    """A check, and what it looks at: a trial, a comparison or a result."""

    id: str
    scope: str


_NOT_LOOKED = Row("E6", "comparison")
"It never fails: whether an answer was wrong is for the checks of trials to say."


class Recording(NamedTuple):
    """A recorded result, with its checks as they are formed today."""

    header: Header
    trials: Sequence[Trial]
    ceilings: Sequence[Trial]
    summary: Summary
    stored: Mapping[str, Any]
    "The result as it was recorded."
    command: str = ""


def recordings() -> Iterator[Recording]:
    """Yield the recorded results of all ways."""
    for file in sorted(RECORDED.glob("*.json.xz")):
        command = file.name.partition(".")[0]
        for result in json.loads(lzma.decompress(file.read_bytes())):
            yield formed(result, command)


def formed(result: Mapping[str, Any], command: str = "") -> Recording:
    """Return a recorded result with its checks; `command` is duel or gate, where it made it."""
    header = Header.model_validate(result["header"])
    metrics = installed_metrics(header, RECORDED, Registry())
    checks_of = ask.of_trials(header, metrics)
    ceilings = [Ceiling.model_validate(one) for one in result["ceilings"]]
    trials = [_checked(Trial.model_validate(one), checks_of) for one in result["trials"]]
    against_null = [_checked(one.trial, checks_of) for one in ceilings]
    summary = concluded(header, trials, metrics, ceilings=ceilings)
    return Recording(header, trials, against_null, summary, result, command)


def _checked(trial: Trial, checks_of: Callable[[Trial], tuple[Check, ...]]) -> Trial:
    return trial.model_copy(update={"checks": (*trial.checks, *checks_of(trial))})


def outcomes(results: Iterable[Recording]) -> Mapping[tuple[Row, Way], Sequence[Check]]:
    """Return all that the checks say, by row and way."""
    by_cell: dict[tuple[Row, Way], list[Check]] = {}
    for way, checks in (pair for result in results for pair in _by_way(result)):
        made: Way = "in turns" if way in {"duel", "gate"} else way
        of_way = {check.message for check in unjudged(made, limits())}
        for check in (check for check in checks if check.message not in of_way):
            by_cell.setdefault((Row(check.id, check.scope), way), []).append(check)
    return by_cell


def _by_way(result: Recording) -> Iterator[tuple[Way, Sequence[Check]]]:
    header, summary = result.header, result.summary
    if result.command in {"duel", "gate"}:
        way: Way = "duel" if result.command == "duel" else "gate"
        compared = (check for one in summary.comparisons for check in one.checks)
        yield way, [*summary.checks, *compared, *(it for of in result.trials for it in of.checks)]
        return
    for trial in result.trials:
        yield way_of(trial), trial.checks
    for trial in result.ceilings:
        yield "ceiling", trial.checks
    ways: list[Way] = []
    for comparison in summary.comparisons:
        ways.append(way_of_comparison(header, comparison.scenario))
        yield ways[-1], comparison.checks
    # A result with turns also has comparisons alone, its bridges.
    yield max(ways, key=WAYS.index), summary.checks


@cache
def faulted() -> frozenset[tuple[Row, Way]]:
    """Return the cells in which a check finds the fault that is planted in a recorded result."""
    results = list(recordings())
    by_cell = outcomes(results)
    open_ = {
        (row, way)
        for (row, way), checks in by_cell.items()
        if any(check.status != "unknown" for check in checks)
    }
    cells: set[tuple[Row, Way]] = set()
    for result in results:
        ways = {way for way, _ in _by_way(result)}
        for row in {row for row, way in open_ - cells if way in ways}:
            if (fault := fault_of(row.id, row.scope)) is not None:
                cells |= {
                    (row, way) for way in _finds(row, result, planted_in(result.stored, fault))
                }
    return frozenset(cells & open_)


def _finds(row: Row, result: Recording, faulty: Mapping[str, Any]) -> Iterator[Way]:
    """Yield the ways in which a result with a fault has a finding of a row."""
    header = Header.model_validate(faulty["header"])
    trials = [Trial.model_validate(item) for item in faulty["trials"]]
    ceilings = [Ceiling.model_validate(item) for item in faulty["ceilings"]]
    against_null, summary = [ceiling.trial for ceiling in ceilings], result.summary
    if row.scope == "trial":
        checks_of = ask.of_trials(header, installed_metrics(header, RECORDED, Registry()))
        trials = [_checked(trial, checks_of) for trial in trials]
        against_null = [_checked(trial, checks_of) for trial in against_null]
    elif row.id == PLACEBO:
        summary = concluded(header, trials, installed_metrics(header, RECORDED, Registry()))
    else:
        by_number = {trial.number: trial.checks for trial in result.trials}
        trials = [trial.model_copy(update={"checks": by_number[trial.number]}) for trial in trials]
        summary = with_checks(summary, header, trials, limits_of(header), ceilings)
    bad = {"unknown"} if row == _NOT_LOOKED else {"warn", "fail"}
    of_fault = result._replace(header=header, trials=trials, ceilings=against_null, summary=summary)
    for way, checks in _by_way(of_fault):
        if any(Row(check.id, check.scope) == row and check.status in bad for check in checks):
            yield way


def rows(by_cell: Iterable[tuple[Row, object]]) -> list[Row]:
    """Return all rows, also those of checks of which no recording says anything."""
    seen = {row for row, _ in by_cell}
    names = {id_.partition(".")[0] for id_ in limits().by_id} - {row.id for row in seen}
    return sorted(seen | {Row(id_, "trial") for id_ in names})


@cache
def planted() -> frozenset[str]:
    """Return the ids of the checks that found a fault which a test plants in real processes."""
    lines = PAGE.read_text().partition(_SECTION_TITLE)[0].splitlines()
    return frozenset(match[1] for line in lines for match in _FOUND.finditer(line))


def cell(row: Row, way: Way, checks: Sequence[Check], *, finds: bool = True) -> str:
    """Return that a check has a value, or why not; empty where benchforge says neither.

    `finds` says whether it finds a planted fault.
    """
    if any(check.status != "unknown" for check in checks):
        return JUDGED if finds else UNPLANTED
    return reason(row.id, way, row.scope) or next((check.message for check in checks), "")


def section() -> str:
    """Return the section of the page."""
    results = list(recordings())
    by_cell = outcomes(results)
    cells = faulted()
    notes: dict[str, int] = {}
    every = rows(by_cell)
    several = {row.id for row in every if sum(row.id == other.id for other in every) > 1}
    lines = [
        [
            _name(row, several),
            *(
                _noted(
                    cell(row, way, by_cell.get((row, way), ()), finds=(row, way) in cells), notes
                )
                for way in WAYS
            ),
        ]
        for row in every
    ]
    by_way = table(("check", *WAYS), lines)
    by_tool = _by_tool(results, notes)
    reasons = "\n".join(f"{number}. {plain(text)}" for text, number in notes.items())
    return f"{_ABOUT}\n{by_way}\n\n{_OF_TOOLS}\n{by_tool}\n\n{reasons}\n"


def _by_tool(results: Iterable[Recording], notes: dict[str, int]) -> str:
    by_cell: dict[Row, dict[str, list[Check]]] = {}
    alone = [trial for one in results for trial in one.trials if trial.case.scenario == TOOLS]
    alone = [trial for trial in alone if trial.turns is None]
    for trial in alone:
        for check in trial.checks:
            by_tool = by_cell.setdefault(Row(check.id, check.scope), {})
            by_tool.setdefault(trial.case.driver, []).append(check)
    tools = list(dict.fromkeys(trial.case.driver for trial in alone))
    lines = []
    for row, by_tool in sorted(by_cell.items()):
        texts = [cell(row, "alone", by_tool.get(tool, ())) for tool in tools]
        if {JUDGED, UNPLANTED} & {*texts} and len({*texts}) > 1:
            lines.append([_name(row, ()), *(_noted(text, notes) for text in texts)])
    return table(("check", *tools), lines)


def _name(row: Row, several: Iterable[str]) -> str:
    limit = limits().by_id.get(row.id)
    name = f"{row.id} {limit.name}" if limit and limit.name != row.id else row.id
    name = f"{name}, {row.scope}" if row.id in several else name
    return name if row.id in planted() else f"*{name}*"


def _noted(text: str, notes: dict[str, int]) -> str:
    return text if text == JUDGED else f"[{notes.setdefault(text, len(notes) + 1)}]"


def drawn(page: str) -> str:
    """Return the page with its section drawn again. Raises ValueError where it has none."""
    text, count = _SECTION.subn(lambda _: section() + "\n", page)
    if count != 1:
        raise ValueError("no section of each check in each way")
    return text.rstrip() + "\n"
