"""What of the machine a trial reaches by paths: sockets, files, secrets of its keeper."""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults.watched import REFUSED
from front_door import Bench, answering, captured
from suite_texts.with_wrk import suite, trials
from users import NOBODY, SYSTEM_PYTHON, as_root

import benchforge
from benchforge.parts.command import Command
from benchforge.run.sandbox.host import LocalHost, Wishes

HARNESS = Path(__file__).parents[2] / "programs/harness/reaches.py"
NO_MOUNTS = tuple(word.replace("net pid user", "net pid user mnt ipc") for word in REFUSED)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that each user may enter, with all that the harness needs."""
    folder = Path(tempfile.mkdtemp(prefix="reach-"))
    folder.chmod(0o777)
    shutil.copytree(Path(benchforge.__file__).parent, folder / "lib" / "benchforge")
    shutil.copy(HARNESS, folder)
    yield folder
    captured(["chmod", "-R", "u+rwX", folder])  # the kernel closes an overlay's working folder
    shutil.rmtree(folder)


def reached(path: Path, *wrapper: str) -> Any:
    python = SYSTEM_PYTHON if wrapper else sys.executable
    (mine := path / "own").mkdir()
    mine.chmod(0o777)
    environment = {"PYTHONPATH": str(path / "lib"), "TOKEN": "secret", "PATH": "/usr/bin:/bin"}
    done = captured([*wrapper, python, path / HARNESS.name, mine], env=environment)
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
    refused = ("machine", "renamed", "abstract", "home", "machine after all is unmounted")
    allowed = ("named socket", "late", "trial", "scratch", "app", "named")
    no = dict.fromkeys((*refused, "sockets", "secret"), False)
    assert outcome == no | dict.fromkeys(allowed, True)
    assert changed == ["trial", "scratch", "named"]
    assert (files, sockets) == ("private", "private")
    late = f"sockets of the machine came up during the trial, in reach: {place / 'own/late'}"
    assert weaker == [late]


def test_without_mounts_the_result_says_what_is_in_reach(place: Path) -> None:
    outcome, changed, files, sockets, weaker = reached(place, *NO_MOUNTS)
    assert outcome["machine"]
    assert outcome["home"]
    assert "app" in changed
    assert (files, sockets) == ("host", "host")
    assert "no private files: no mount namespace" in weaker
    assert "no private sockets: no mount namespace" in weaker


def test_code_that_can_have_no_layer_stays_open_and_the_result_says_so(tmp_path: Path) -> None:
    """Something is in the place of the layer, as an old kernel would refuse one."""
    (scratch := tmp_path / "scratch").mkdir()
    (scratch / "layer-0/upper").mkdir(parents=True)
    (code := tmp_path / "code").mkdir()
    wishes = Wishes(scratch=scratch, writes=(), copied=[code])
    with LocalHost().trial(tmp_path / "trial", wishes=wishes) as sandbox:
        command = Command("sh", "-c", f"echo planted > {code}/file")
        assert sandbox.run("writes", command, tmp_path / "trial", {}, 60).code == 0
        assert sandbox.mode.files == "host"
        (reason,) = (item for item in sandbox.mode.weaker if "layer" in item)
    assert reason.startswith(f"programs may change files in {code}, for it has no layer: ")
    assert (code / "file").read_text() == "planted\n"


def test_mounts_in_the_folder_of_code_stay_in_sight(tmp_path: Path) -> None:
    """A layer shows one file system: what is mounted below it would be gone."""
    wishes = Wishes(scratch=tmp_path, writes=(), copied=[Path("/")])
    with LocalHost().trial(tmp_path / "trial", wishes=wishes) as sandbox:
        reason = "programs may change files in /: mounts below allow no layer"
        assert (sandbox.mode.weaker[0], sandbox.mode.files) == (reason, "host")
        assert sandbox.run("reads", Command("cat", "/proc/self/stat"), tmp_path, {}, 60).code == 0


def test_a_suite_names_what_its_programs_may_reach(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    top = 'writes = ["data"]\nsockets = ["/run/of-this-test"]\n'
    bench("run", suite(tmp_path, answering(), top=top), code=0)
    (trial,) = trials(tmp_path)
    assert trial["namespaces"]["named"] == [str(tmp_path / "data"), "/run/of-this-test"]


def test_a_server_that_may_not_write_is_told_how_to(bench: Bench, tmp_path: Path) -> None:
    words = f"echo planted > {tmp_path.parent}/planted"
    server = f'use = "command"\ncommand = ["sh", "-c", "{words}"]'
    done = bench("run", suite(tmp_path, server))
    if "no private" in done.all:
        pytest.skip("no namespaces here")
    assert done.code == 4, done.all
    words = " ".join(done.all.split())  # a line ends at 80 columns
    assert "Read-only file system" in words
    assert 'such as writes = ["../data"]' in words
    assert not (tmp_path.parent / "planted").exists()


@pytest.mark.parametrize(
    ("top", "error"),
    [
        ('writes = ["nowhere"]', "small.toml:3:11: writes[0]: no folder {folder}/nowhere"),
        ('sockets = ["run/one"]', "small.toml:3:12: sockets[0]: 'run/one' is not an absolute path"),
    ],
)
def test_a_missing_path_is_one_error(bench: Bench, tmp_path: Path, top: str, error: str) -> None:
    done = bench("check", suite(tmp_path, answering(), top=top), code=2)
    assert error.format(folder=tmp_path) in done.err
    assert "hint: " in done.err
