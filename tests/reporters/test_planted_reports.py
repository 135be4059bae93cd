"""The first screen of reports whose answer is known, each of a real run."""

import re
from pathlib import Path

import pytest
from front_door import Bench, needed
from planted.reports import PLANTED_REPORTS, PlantedReport

_TRIES = 5


@pytest.mark.exhaustive
@pytest.mark.parametrize("planted", PLANTED_REPORTS, ids=lambda planted: planted.name)
def test_the_first_screen_gives_the_answer(
    bench: Bench, tmp_path: Path, planted: PlantedReport
) -> None:
    needed("wrk")
    (tmp_path / "suite.toml").write_text(planted.suite)
    for attempt in range(_TRIES):  # a neighbour hides what is planted
        done = bench("run", tmp_path / "suite.toml", "-o", tmp_path / str(attempt))
        assert done.code in {0, 1, 4}, done.all
        right = re.match(planted.sentence, done.out)
        if right:
            break
    assert right, done.all
    assert "May I quote it?" in done.out
    if planted.name == "unlike":
        assert "north kept connections alive" in done.out
