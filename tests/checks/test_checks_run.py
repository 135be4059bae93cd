"""Checks of real loads, by the command."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, attempts
from suite_texts.files import suite_text


def checks(
    bench: Bench, folder: Path, way: str, loader: str, settles: tuple[str, str]
) -> list[dict[str, Any]]:
    """What is found of a server that stalls, after four seconds over eight connections.

    A loud machine has the load tool stand still as well: where the check that `settles` this by its
    id and component does not pass, it is measured again, five times at most.
    """
    for path in attempts(folder):
        actual = checks_once(bench, path, way, loader)
        if only(actual, *settles)["status"] == "pass":
            break
    return actual


def checks_once(bench: Bench, folder: Path, way: str, loader: str) -> list[dict[str, Any]]:
    stalls = str(PROGRAMS / "faulty_servers/stalls.py")
    program = (sys.executable, stalls, "--port", "{port}", "--way", way)
    words = ", ".join(f"'{word}'" for word in program)
    (folder / "suite.toml").write_text(suite_text("checks/checks_run", words=words, loader=loader))
    done = bench("run", folder / "suite.toml", "-o", folder / "results")
    assert done.code in {0, 4}, done.all  # 4 where others take CPU: no attempt is believed
    return list(json.loads(min(folder.glob("results/*/trials/*/trial.json")).read_text())["checks"])


def only(actual: list[dict[str, Any]], id_: str, text: str = "") -> dict[str, Any]:
    (item,) = (check for check in actual if (check["id"], check["component"]) == (id_, text))
    return item


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("whole", "; the whole server stood still, for "),
        ("single", "; single requests were slow while others"),
    ],
)
def test_o1_shows_the_blind_spot_of_a_closed_loop(
    bench: Bench, tmp_path: Path, way: str, says: str
) -> None:
    actual = checks(bench, tmp_path, way, "", ("L3", ""))
    omitted = only(actual, "O1")
    assert (omitted["status"], omitted["invalidates"]) == ("fail", "latency")
    assert says in omitted["message"]
    # Little's law holds: all eight were under way all the time.
    law = only(actual, "L3")
    assert law["status"] == "pass"
    assert 0.9 < law["value"] <= 1.01
    assert "L4" not in {check["id"] for check in actual}


def test_l4_passes_a_punctual_tool_whose_server_misses_the_rate(
    bench: Bench, tmp_path: Path
) -> None:
    actual = checks(bench, tmp_path, "each", 'rate = "100/s"', ("L4", "lateness"))
    sole = only(actual, "L4", "rate")
    assert sole["status"] == "fail"
    assert sole["value"] < 0.5  # eight connections, half a second each: 16 in a second
    assert sole["subject"] == "behaviour"
    assert only(actual, "L4", "lateness")["status"] == "pass"
    assert not {"L3", "O1"} & {check["id"] for check in actual}
