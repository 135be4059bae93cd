"""The two ways to have the programs: unpacked by the set-up, and installed as packages."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from front_door import calls, captured, lack
from installed import ROOT, cloned
from other_machine import NOBODY, USERS, of_packages, other_machine
from suite_texts.files import suite_text

from benchforge.cli.machine.doctor.report import installed
from benchforge.parts.registry import Registry

SYSTEM = ROOT / ".tools/system"
LIBRARIES = ("libpcre", "libev", "libpq")
# What Debian has of what a suite may need, and what people get with it.
PROGRAMS = sorted({need.name for need in installed(Registry()).needs if need.debian})
OF_POSTGRESQL = {"postgres", "initdb", "pg_ctl", "pg_isready", "psql"}
SUITE = suite_text("end_to_end/other_machine")


def unpacked() -> set[str]:
    """Return the programs that the set-up unpacked."""
    folders = [SYSTEM / "usr/bin", SYSTEM / "usr/sbin", *SYSTEM.glob("usr/lib/postgresql/*/bin")]
    return {name for name in PROGRAMS if any((folder / name).exists() for folder in folders)}


def interpreter(user: int) -> tuple[str, dict[str, str]]:
    """Return a Python that a user can start, and what it needs to have our packages."""
    if os.getuid() == user:
        return sys.executable, {}
    python = f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    kinds = (str(item) for item in (ROOT / "plugins").iterdir() if item.is_dir())
    environment = {"PYTHONPATH": os.pathsep.join([packages, str(ROOT), *kinds])}
    words = ["setpriv", f"--reuid={user}", "--clear-groups", python, "-c", "import pydantic_core"]
    if subprocess.run(words, env=environment, capture_output=True, check=False).returncode:
        lack(f"{python} cannot use {packages} as an ordinary user")
    return python, environment


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that an ordinary user can reach: the one of pytest is closed."""
    with tempfile.TemporaryDirectory(prefix="bf-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.samples(1)
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
@pytest.mark.parametrize("way", ["unpacked", "installed"])
def test_both_kinds_of_programs(tmp_path: Path, open_folder: Path, way: str, user: int) -> None:
    names = unpacked()
    if not names:
        lack("the set-up unpacked nothing: the programs are installed here")
    python, more = interpreter(user)
    if way == "unpacked":
        # A library goes with the programs: what is installed here may need it still.
        gone = [*names, *(LIBRARIES if names >= OF_POSTGRESQL else LIBRARIES[:2])]
        first = other_machine(tmp_path, user, of_packages(gone))
        path, wished = SYSTEM, {"BENCHFORGE_PROGRAMS": str(SYSTEM)}
    else:
        first = other_machine(tmp_path, user, path=SYSTEM, emptied=SYSTEM)
        path, wished = Path("/usr"), {}
    (open_folder / "suite.toml").write_text(SUITE)
    os.chown(open_folder, user, -1)
    mine = {"PATH": "/usr/bin", "HOME": str(open_folder), "TMPDIR": str(open_folder)}
    bench = calls([*first, python, "-m", "benchforge"], open_folder, mine | more | wished)

    says = {load["subject"]: load for load in json.loads(bench("doctor", "--json").out)["programs"]}
    for name in names & says.keys():
        assert says[name]["state"] == "ok", says[name]
        assert says[name]["says"].startswith(f"{path}/"), says[name]
        assert not re.search("unknown|error while loading", says[name]["says"])

    bench("run", "suite.toml", code=0)
    for file in open_folder.glob("results/*/trials/*/trial.json"):
        trial = json.loads(file.read_text())
        assert trial["failure"] is None
        for process in trial["processes"]:
            if Path(process["argv"][0]).name in names:
                assert process["argv"][0].startswith(f"{path}/")
                assert ("LD_LIBRARY_PATH" in process["environment"]) == (way == "unpacked")


@pytest.mark.exhaustive
@pytest.mark.network
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
@pytest.mark.parametrize("way", ["unpacked", "installed"])
def test_a_fresh_clone_works(tmp_path: Path, open_folder: Path, way: str, user: int) -> None:
    """With nothing on the machine that the set-up would fetch, and with all of it."""
    names = [*PROGRAMS, *OF_POSTGRESQL, "httperf", "pypy3"]
    if way == "unpacked":
        gone = [*of_packages([*names, *LIBRARIES]), *Path("/usr/lib").glob("postgresql")]
        first = other_machine(tmp_path, user, gone)
    else:
        first = other_machine(tmp_path, user, path=SYSTEM)
    mine = cloned(open_folder / "clone")
    for path in (mine, *mine.rglob("*")):
        os.chown(path, user, -1)
    environment = {"PATH": os.defpath, "HOME": str(mine), "LC_ALL": "C.UTF-8"}

    def made(*words: str) -> str:
        line = [*first, "make", *words]
        done = captured(line, cwd=mine, env=environment, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    fetched = made("setup-dev")
    assert ("debian: libpcre3 " in fetched) == (way == "unpacked"), fetched
    assert made("setup-dev") == ""
    assert "macro" in made("run", "PROFILE=quick")
    tests = ("backends/test_virtuoso.py", "backends/test_redis.py", "servers/test_nginx.py")
    files = [f"tests/plugins/{name}" for name in tests]
    words = [".venv/bin/pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run([*first, *words], cwd=mine, env=environment | {"CI": "1"}, check=False)
    assert done.returncode == 0
    assert user != NOBODY or not [path for path in mine.rglob("*") if path.lstat().st_uid != user]
