"""What of the machine a trial reaches by paths: sockets, files, secrets of its keeper."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults.watched import REFUSED
from users import NOBODY, SYSTEM_PYTHON, as_root

import benchforge

HARNESS = Path(__file__).parents[1] / "programs/harness/reaches.py"
NO_MOUNTS = tuple(word.replace("net pid user", "net pid user mnt ipc") for word in REFUSED)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that each user may enter, with all that the harness needs."""
    folder = Path(tempfile.mkdtemp(prefix="reach-"))
    folder.chmod(0o777)
    shutil.copytree(Path(benchforge.__file__).parent, folder / "lib" / "benchforge")
    shutil.copy(HARNESS, folder)
    yield folder
    shutil.rmtree(folder)


def reached(place: Path, *wrapper: str) -> Any:
    python = SYSTEM_PYTHON if wrapper else sys.executable
    (own := place / "own").mkdir()
    own.chmod(0o777)
    environment = {"PYTHONPATH": str(place / "lib"), "TOKEN": "secret", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*wrapper, python, place / HARNESS.name, own],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "unshare" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "user", [pytest.param((), id="this user"), pytest.param(NOBODY, id="nobody", marks=as_root)]
)
def test_a_trial_reaches_of_the_machine_what_its_suite_names(
    place: Path, user: tuple[str, ...]
) -> None:
    outcome, changed, files, sockets, weaker = reached(place, *user)
    if "no private" in " ".join(weaker):
        pytest.skip(f"no namespaces here: {weaker}")
    temporary = Path(outcome.pop("temporary"))
    assert temporary == place / "own/scratch/tmp"
    assert outcome == {
        "machine": False,
        "renamed": False,
        "abstract": False,
        "named socket": True,
        "late": True,
        "trial": True,
        "scratch": True,
        "app": True,
        "named": True,
        "home": False,
        "sockets": False,
        "secret": False,
    }
    assert changed == ["trial", "scratch", "named"]
    assert (files, sockets) == ("private", "private")
    (late,) = weaker
    assert late == (
        f"sockets of the machine came up during the trial, in reach: {place / 'own/late'}"
    )


def test_without_mounts_the_result_says_what_is_in_reach(place: Path) -> None:
    outcome, changed, files, sockets, weaker = reached(place, *NO_MOUNTS)
    assert outcome["machine"]
    assert outcome["home"]
    assert "app" in changed
    assert (files, sockets) == ("host", "host")
    assert "no private files: no mount namespace" in weaker
    assert "no private sockets: no mount namespace" in weaker
