"""How loud a machine is: what is made of the rounds, and how runs use what was kept."""

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, Told, bench_words, calls
from hypothesis import given
from hypothesis import strategies as st
from made.calibrated import BEYOND, calibration
from pydantic import ValidationError
from suite_texts.with_pace import suite

from benchforge.checks.limits import limits
from benchforge.checks.machine import calibrated
from benchforge.cli.machine.calibrate.command import between_neighbours, keep, shown
from benchforge.cli.machine.doctor.machine import calibration_findings
from benchforge.errors import CannotKeep
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.folder import read_header
from benchforge.run.machine import calibration as stored
from benchforge.stats.observation import spread

SOME = st.lists(st.floats(1e-3, 1e6), min_size=2, max_size=200)


@given(SOME)
def test_a_quantile_has_as_many_values_below_it_as_it_says(values: list[float]) -> None:
    actual = spread(values)
    for p, value in ((0.5, actual.median), (0.99, actual.high), (1.0, actual.largest)):
        assert value in values
        assert sum(item <= value for item in values) >= p * len(values)
        assert sum(item < value for item in values) < p * len(values)


@given(SOME, st.floats(0.1, 10))
def test_the_spread_has_no_unit_and_no_direction(values: list[float], times: float) -> None:
    sd = between_neighbours(values)
    assert between_neighbours([value * times for value in values]) == pytest.approx(sd, abs=1e-9)
    assert between_neighbours(values[::-1]) == pytest.approx(sd, abs=1e-12)


def test_the_spread_between_neighbours_is_that_of_a_paired_comparison() -> None:
    rng = random.Random(7)
    noise = [math.exp(rng.gauss(0, 0.02)) for _ in range(4000)]
    assert between_neighbours(noise) == pytest.approx(0.02 * math.sqrt(2), rel=0.05)
    drifting = [value * math.exp(n / 4000) for n, value in enumerate(noise)]
    assert between_neighbours(drifting) == pytest.approx(between_neighbours(noise), rel=0.01)


def test_what_so_many_blocks_show_is_the_planning_table() -> None:
    actual = {blocks: round(100 * math.log1p(least), 1) for blocks, least in shown(0.028).items()}
    assert actual == {5: 4.7, 10: 2.8, 20: 1.8}
    assert shown(0.0) == {}


def test_thresholds_are_loosened_to_twice_the_quantile_and_never_tightened() -> None:
    among = limits()
    thresholds = calibrated.thresholds(calibration({"N1": (0.01, 0.06), "N2": (0.0, 0.001)}), among)
    assert thresholds == {"N1": 0.12}
    loosened = among.loosened(thresholds)
    default = among["N1"]
    assert default.warn is not None
    assert default.fail is not None
    assert loosened["N1"].warn == 0.12
    assert loosened["N1"].fail == pytest.approx(0.12 + default.fail - default.warn)
    assert loosened["N2"] == among["N2"]


IDS = calibrated.ids(limits())


@given(st.dictionaries(st.sampled_from(IDS), st.floats(0, 100).map(lambda item: (item,))))
def test_no_calibration_makes_a_threshold_stricter(observed: dict[str, tuple[float, ...]]) -> None:
    among = limits()
    loosened = among.loosened(calibrated.thresholds(calibration(observed), among))
    for id_ in among.by_id:
        earlier, later = among[id_], loosened[id_]
        assert (later.warn or 0) >= (earlier.warn or 0)
        assert (later.fail or 0) >= (earlier.fail or 0)


def test_all_families_of_noise_can_be_loosened() -> None:
    assert {id_.partition(".")[0] for id_ in IDS} == {"N1", "N2", "N3", "N4", "P2", "L5"}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((0.01, 0.02, 0.9), ""),  # it was loud once
        ((0.01, 0.2, 0.9), "others used 20 % of the CPUs or more in half of the rounds"),
        ((), "whether others used the CPUs is not known"),
    ],
)
def test_what_a_loud_machine_does_is_not_called_quiet(
    values: tuple[float, ...], reason: str
) -> None:
    loud = calibrated.loud(calibration({"N1": values} if values else {}), limits())
    assert loud.startswith(reason) if reason else not loud


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_second": [1.0]},
        {"per_second": [1.0, 0.0]},
        {"seen": {"N1": []}},
        {"seen": {"N1": [0.1, 0.1, 0.1, 0.1]}},
        {"seen": {"N1": [0.1]}, "unknown": {"N1": "why"}},
    ],
)
def test_a_calibration_that_says_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    actual = calibration({}).model_dump(mode="json") | wrong
    with pytest.raises(ValidationError):
        Calibration.model_validate(actual)


def test_it_is_of_one_machine_one_kernel_and_one_set_of_thresholds() -> None:
    mine = calibration({})
    assert stored.stale(mine, limits()) == ""
    for name, value in (("id", "x"), ("kernel", "0.0"), ("cpus", 4096)):
        machine = mine.machine.model_copy(update={name: value})
        assert stored.stale(mine.model_copy(update={"machine": machine}), limits())
    older = mine.model_copy(update={"thresholds_version": "1999"})
    assert "thresholds 1999" in stored.stale(older, limits())


def test_the_machine_is_known_by_a_digest_and_not_by_its_id(tmp_path: Path) -> None:
    digests = set()
    for mine in ("0123456789abcdef", "fedcba9876543210", ""):
        (tmp_path / "etc").mkdir(exist_ok=True)
        (tmp_path / "etc" / "machine-id").write_text(mine)
        machine = stored.machine(tmp_path)
        assert not mine or mine not in machine.model_dump_json()
        digests.add(machine.id)
    assert len(digests) == 3


def state(folder: Path) -> Bench:
    """Call benchforge in a folder, with a state of its own below it."""
    return calls(bench_words(), folder, {**os.environ, "XDG_STATE_HOME": str(folder / "state")})


def put(folder: Path, text: str) -> Path:
    file = folder / "state" / "benchforge" / stored.FILE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def run(folder: Path) -> Told:
    return state(folder)("run", suite(folder, blocks=1))


def test_a_run_loosens_says_which_and_keeps_it_with_the_result(tmp_path: Path) -> None:
    put(tmp_path, calibration({"P2": (900.0, 1500.0), "N1": (0.0, 0.01)}).model_dump_json())
    call = run(tmp_path)
    header = read_header(call.result)
    assert header.loosened_thresholds == {"P2": 3000.0}
    assert "as calibrated on 2026-01-01: P2 preemption from 1,000 to 3,000" in call.err
    assert calibrated.limits_of(header)["P2"].warn == 3000.0


def test_without_one_a_run_says_nothing_and_takes_the_defaults(tmp_path: Path) -> None:
    call = run(tmp_path)
    assert read_header(call.result).loosened_thresholds == {}
    assert "calibrat" not in call.err


@pytest.mark.samples(1)
@pytest.mark.parametrize("how", ["other kernel", "cut off", "newer"])
def test_a_stale_calibration_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    actual = calibration({"P2": (BEYOND,)}).model_dump(mode="json")
    if how == "other kernel":
        actual["machine"]["kernel"] = "2.6.32"
    if how == "newer":
        actual["format"] = 99
    text = json.dumps(actual)
    file = put(tmp_path, text[: len(text) // 2] if how == "cut off" else text)
    call = run(tmp_path)
    valid = state(tmp_path)("validate", file)
    assert read_header(call.result).loosened_thresholds == {}
    assert "warning: the calibration is not used: " in call.err
    assert ("it is of kernel 2.6.32" in call.err) is (how == "other kernel")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (doctor,) = calibration_findings()
    assert (doctor.state, doctor.do) == ("warn", "benchforge calibrate")
    assert doctor.says.startswith("not used: ")
    assert valid.code == (0 if how == "other kernel" else 2)


def test_doctor_says_whether_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (none,) = calibration_findings()
    assert (none.state, none.do) == ("unknown", "benchforge calibrate")
    keep(calibration({}))
    (findings,) = calibration_findings()
    assert findings.state == "ok"
    assert findings.says.endswith("the smallest difference that 10 blocks show: 0.995 %")


def test_calibrate_shows_what_it_saw_and_keeps_it_only_where_it_was_quiet(tmp_path: Path) -> None:
    call = state(tmp_path)("calibrate", "--rounds", "2", "--seconds", "1")
    assert "[2/2]" in call.err
    assert "smallest difference" in call.out
    file = tmp_path / "state" / "benchforge" / stored.FILE
    if call.code == 0:
        model_validate_json = Calibration.model_validate_json(file.read_bytes())
        assert not calibrated.loud(model_validate_json, limits())
        assert len(model_validate_json.per_second) == 2
        state(tmp_path)("validate", file, code=0)
    else:
        assert call.code == 4, call.all
        assert "not kept: " in call.err
        assert not file.exists()


def test_a_loud_machine_keeps_nothing(tmp_path: Path) -> None:
    burns = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"
    cpus = len(os.sched_getaffinity(0))
    loud = [subprocess.Popen([sys.executable, "-c", burns]) for _ in range(cpus)]
    try:
        call = state(tmp_path)("calibrate", "--rounds", "2", "--seconds", "1")
    finally:
        for item in loud:
            item.kill()
            item.wait()
    assert call.code == 4, call.all
    assert not (tmp_path / "state").exists() or not any((tmp_path / "state").rglob("*.json"))


def test_a_calibration_that_cannot_be_read_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> bool:
        raise PermissionError(13, "Permission denied", "there")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(Path, "exists", refused)  # we may be root, who may read anything
    (findings,) = calibration_findings()
    assert (findings.state, "Permission denied" in findings.says) == ("warn", True)


def test_where_it_cannot_be_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(CannotKeep, match="state"):
        keep(calibration({}))
