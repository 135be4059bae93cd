"""How long the rest takes: what the first place's attempts do not say of it."""

import io
from typing import cast

from made import plain

from benchforge.checks.limits import limits
from benchforge.cli.console.progress import ProgressLine
from benchforge.model.suite.search import SearchOutcome
from benchforge.run.remaining import Left
from benchforge.stats.timeseries.noise import Noise
from benchforge.suite.plan import RunGraph


def test_a_wait_of_the_first_place_is_not_added_to_each_that_follows() -> None:
    rest, waited = Left(), plain.trial(seconds=22.0, phases={"quiet": 20.0})
    rest.add(waited, 2.0, last=False)
    assert rest.of(30, 60.0, Noise()) < 30 * 3.0 + 60.0
    rest.add(waited, 2.0, last=True)
    assert rest.of(30, 60.0, Noise()) > 30 * 20.0


def test_noise_in_a_search_says_nothing_of_ratios() -> None:
    loud = limits().check("N1", "apparatus", 0.9, "others used 90 %", status="fail")
    sought = SearchOutcome(rate=50, passed=None, why="noise", outcomes=())
    actual = []
    for outcome in (sought, None):
        printed = io.StringIO()
        trial = plain.trial().model_copy(update={"search_outcome": outcome, "checks": (loud,)})
        ProgressLine(cast("RunGraph", ()), printed).noise(trial, lasts=True)
        actual.append(printed.getvalue())
    assert actual[0].endswith(
        "no trial waits for quiet or is repeated; disturbed trials say nothing\n"
    )
    assert "ratios" in actual[1]
