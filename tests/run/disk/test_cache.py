"""The cache holds programs that are run: it is ours alone, or it is refused."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from front_door import bench_words, calls, needed_module
from suite_texts.with_wrk import suite
from users import NOBODY, SYSTEM_PYTHON, as_root

import benchforge
from benchforge.errors import CannotKeep
from benchforge.run.disk.leftovers import cache, private
from benchforge.run.disk.result_writer import ResultWriter

OTHERS_WRITE = 0o022
CLOSES = (
    "import sys; from benchforge.errors import CannotKeep\n"
    "from benchforge.run.disk.leftovers import cache\n"
    "try: print(cache('runtimes'))\n"
    "except CannotKeep as error: sys.exit(error.text())\n"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/benchforge"


def mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_the_cache_is_closed_to_others_whatever_the_umask_is(home: Path, umask: int) -> None:
    usual = os.umask(umask)
    try:
        folder = cache("runtimes")
    finally:
        os.umask(usual)
    assert folder == home / "runtimes"
    assert [mode(home), mode(folder)] == [0o700, 0o700]
    assert not mode(home.parent) & OTHERS_WRITE


def test_a_cache_that_others_read_is_closed(home: Path) -> None:
    home.mkdir(parents=True)
    home.chmod(0o755)
    cache("templates")
    assert mode(home) == 0o700


@pytest.mark.parametrize("label", [".", "runtimes"])
def test_a_cache_that_others_may_write_is_refused(home: Path, label: str) -> None:
    cache("runtimes")
    (home / label).chmod(0o777)
    with pytest.raises(CannotKeep, match="other users may write there") as caught:
        cache("runtimes")
    assert "XDG_CACHE_HOME=" in caught.value.hint


def test_a_link_instead_of_a_folder_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    home.parent.mkdir()
    home.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotKeep, match="not a folder of this user"):
        cache("runtimes")


@as_root
def test_a_runtime_of_another_user_is_refused(home: Path) -> None:
    (planted := cache("runtimes") / "planted").mkdir(0o700)
    assert private(planted) == planted
    os.chown(planted, 65534, 65534)
    with pytest.raises(CannotKeep, match="not a folder of this user: programs in it are not run"):
        private(planted)


@as_root
def test_an_ordinary_user_refuses_the_cache_of_another() -> None:
    folder = Path(tempfile.mkdtemp(prefix="cache-"))
    (folder / "benchforge").mkdir()
    folder.chmod(0o755)
    lib = Path(benchforge.__file__).parents[1]
    words = [*NOBODY, SYSTEM_PYTHON, "-c", CLOSES]
    environment = {"PYTHONPATH": str(lib), "XDG_CACHE_HOME": str(folder), "HOME": "/"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    shutil.rmtree(folder)
    if "No module named" in done.stderr:
        pytest.skip("nobody may not read the source")
    assert done.returncode == 1
    assert f"{folder / 'benchforge'}: not a folder of this user" in done.stderr


def test_whatever_the_umask_is_nobody_else_writes_where_programs_run(tmp_path: Path) -> None:
    usual = os.umask(0)
    try:
        writer = ResultWriter.new(tmp_path / "results", "small", datetime.now(UTC))
        folders = [writer.trial_folder(1), writer.ceiling_folder(1)]
        for folder in folders:
            assert mode(folder) == 0o700
            writer.opened(folder)
    finally:
        os.umask(usual)
    upper = {item for folder in folders for item in (folder, *folder.parents[:3])}
    assert not [item for item in upper if mode(item) & OTHERS_WRITE]


def test_doctor_tells_of_a_refused_cache_and_a_run_ends_with_a_sentence(tmp_path: Path) -> None:
    needed_module("gunicorn")
    (folder := tmp_path / "cache/benchforge").mkdir(parents=True)
    folder.chmod(0o777)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    bench = calls(bench_words(), tmp_path, environment)
    done = bench("doctor", "--json", code=0)
    states = {load["subject"]: load for load in json.loads(done.out)["machine"]}
    assert states["cache"]["state"] == "warn"
    assert states["cache"]["says"].startswith(f"{folder}: other users may write there")
    assert "disk: trials" in states

    runtime = f'runtime = "own"\n[runtimes.own]\npython = "{sys.executable}"\n'
    runtime += 'requires = ["gunicorn==23.0.0"]\n'
    app = 'use = "gunicorn"\napp = "flask_agents"\n'
    done = bench("run", suite(tmp_path, app + runtime), code=5)
    assert f"error: {folder}: other users may write" in done.err
    assert not (tmp_path / "results").exists()
