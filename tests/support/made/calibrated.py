"""A calibration for all tests, by which a busy machine makes no trial doubtful."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchforge.checks.limits import limits
from benchforge.checks.machine.calibrated import ids
from benchforge.cli.machine.calibrate.command import keep
from benchforge.model.files.calibration import Calibration
from benchforge.run.machine.calibration import machine

BEYOND = 1e6
"More than any check of noise ever sees, in its own unit."


@pytest.fixture(scope="session", autouse=True)
def calibrated() -> Iterator[Path]:
    """Have each benchforge that a test calls find a calibration whose thresholds are so loose."""
    state = tempfile.TemporaryDirectory(prefix="tests-state-")
    with state as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        file = keep(calibration(dict.fromkeys(ids(limits()), (BEYOND,))))
        for item in (Path(folder), file.parent):
            item.chmod(0o755)  # some tests call it as an ordinary user
        yield file


def calibration(observed: dict[str, tuple[float, ...]]) -> Calibration:
    """Return one of this machine, of three rounds."""
    return Calibration(
        created=datetime(2026, 1, 1, tzinfo=UTC),
        benchforge="0.1.0",
        machine=machine(),
        thresholds_version=limits().version,
        loader="wrk",
        seconds=5.0,
        per_second=(1000.0, 1010.0, 1000.0),
        observed=observed,
    )
