"""How long the cases of each scenario take turns: by the scenario, or else by [repeat]."""

from pathlib import Path

import pytest
from suite_texts.files import suite_text

from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.scenarios.turns import all_turns

SUITE = suite_text("suite/scenarios/turns")


@pytest.mark.parametrize("bridge", [0, 3])
def test_a_scenario_may_have_a_length_of_its_own(tmp_path: Path, bridge: int) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(SUITE.replace("{bridge}", str(bridge)))
    suite = load(path, Registry())
    planned = {label: turns.each_s for label, turns in all_turns(suite).items()}
    assert planned == {"plain": 1.0, "longer": 4.0}
    bridges = {"plain-alone", "longer-alone"} if bridge else set()
    assert suite.scenarios.keys() == {"plain", "longer", "alone"} | bridges
