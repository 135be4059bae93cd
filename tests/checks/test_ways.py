"""Each check in each way in which a trial is made, on recorded trials of all ways."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from front_door import Bench
from measured.small_results import shared
from recorded.ways import SUITES, recorded, store

from benchforge.checks.limits import limits
from benchforge.checks.ways import ABSENT, UNJUDGED, Way, reason, unjudged
from benchforge.model.trial.check import Check
from docs.generate import ways

OF_A_RUN = {"placement", "quiet"}
"Findings that are made while a trial runs: a recorded trial has them as they were."
VALIDITY = Path(__file__).parents[1] / "validity"
ByCell = Mapping[tuple[ways.Row, Way], Sequence[Check]]


def ids_of(names: str) -> list[str]:
    return [name.partition(" ")[0] for name in names.split(", ")]


@pytest.fixture(scope="module")
def results() -> Sequence[ways.Recording]:
    return list(ways.recordings())


@pytest.fixture(scope="module")
def by_cell(results: Sequence[ways.Recording]) -> ByCell:
    return ways.outcomes(results)


def test_each_check_is_judged_in_each_way_or_says_why_not(by_cell: ByCell) -> None:
    empty = [
        f"{row.id} of a {row.scope} {way}"
        for row in ways.rows(by_cell)
        for way in ways.WAYS
        if not ways.cell(row, way, by_cell.get((row, way), ()))
    ]
    assert not empty, "neither judged nor unknown with a reason"


def test_each_value_is_shown_by_a_fault_in_a_recorded_trial_of_that_way(by_cell: ByCell) -> None:
    silent = {
        f"{row.id} of a {row.scope} {way}"
        for (row, way), checks in by_cell.items()
        if ways.cell(row, way, checks) == ways.JUDGED
        and (row, way) not in ways.faulted()
        and row.id not in OF_A_RUN
    }
    assert not silent, "docs/generate/faults.py plants nothing that it finds"


def test_each_fault_of_the_first_table_is_planted_by_a_test_of_validity() -> None:
    """A row of the page is written by a test of `validity/`, which names its check."""
    texts = "".join(path.read_text() for path in VALIDITY.glob("**/*.py"))
    assert {id_ for id_ in ways.planted() if not re.search(rf'"{id_}["., ]', texts)} == set()


def test_no_reason_is_given_for_what_is_judged(by_cell: ByCell) -> None:
    wrong = [
        (row, way)
        for (row, way), checks in by_cell.items()
        if ways.cell(row, way, checks) in {ways.JUDGED, ways.UNPLANTED}
        and reason(row.id, way, row.scope)
    ]
    assert not wrong, "the way records enough for it"


def test_each_reason_is_of_a_check_and_a_way() -> None:
    ids = {id_.partition(".")[0] for id_ in limits().by_id}
    for reasons in (*UNJUDGED.values(), *ABSENT.values()):
        named = [id_ for names in reasons.values() for id_ in ids_of(names)]
        assert set(named) <= ids | {"placement"}
        assert len(named) == len(set(named))


def test_a_report_says_what_a_way_cannot_judge(results: Sequence[ways.Recording]) -> None:
    spoken = [
        {check.message for check in comparison.checks}
        for result in results
        for comparison in result.summary.comparisons
        if comparison.scenario in result.header.turns
    ]
    output = {check.message for check in unjudged("in turns", limits())}
    assert len(spoken) > 2
    assert all(output <= messages for messages in spoken)


def test_all_checks_that_share_a_reason_are_one_cause(results: Sequence[ways.Recording]) -> None:
    in_turns = next(result for result in results if result.header.turns)
    causes = {cause.id: cause for cause in in_turns.summary.causes if cause.state == "unknown"}
    for names in UNJUDGED["in turns"].values():
        first, *others = ids_of(names)
        assert {first, *others} <= {finding.check.id for finding in causes[first].findings}


def test_why_names_a_missing_check(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    call = bench("report", shared(tmp_path_factory), "--why", "h3", code=2)
    assert "it is not judged: all parts run on one machine" in call.err


def test_the_page_is_drawn_from_the_code_and_the_recordings() -> None:
    assert ways.drawn(ways.PAGE.read_text()) == ways.PAGE.read_text(), "make docs draws it again"


@pytest.mark.exhaustive
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("way", [*SUITES, "duel", "gate"])
def test_each_way_records_the_same(way: Way, bench: Bench, tmp_path: Path, by_cell: ByCell) -> None:
    """`BENCHFORGE_REWRITE=1` stores what it records."""
    results = recorded(way, bench, tmp_path)
    if os.environ.get("BENCHFORGE_REWRITE"):
        store(way, results)
        return
    again = ways.outcomes(ways.formed(result, way) for result in results)
    rows_again = {row for row, subject in again if subject == way}
    assert {row for row, subject in by_cell if subject == way} <= rows_again
