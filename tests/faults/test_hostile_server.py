"""A server that does all that its user may: its trial ends with a reason, and nothing is left."""

import json
import sys
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, Told

from benchforge.errors import OutputDamaged
from benchforge.parts.content import content_of
from benchforge.run.disk.scratch import emptied

SUITE = """benchforge = 1
servers.a = {{ use = "command", command = {command}, ready_within = "20s" }}
loaders.load = {{ use = "pace", connections = 1, duration = "300ms" }}
scenarios.s = {{ servers = ["a"], loaders = ["load"] }}
repeat = {{ blocks = 1, quiet = "off" }}
"""


def run(bench: Bench, folder: Path, *words: str) -> Told:
    mark = str(folder)  # in the command line of all that it starts
    command = [sys.executable, str(PROGRAMS / "faulty_servers/halts.py"), "{port}", *words, mark]
    (folder / "suite.toml").write_text(SUITE.format(command=json.dumps(command)))
    return bench("run", "suite.toml")


@pytest.mark.parametrize("way", ["pipes", "links", "folders", "devices"])
def test_what_is_planted_for_the_load_tool_is_not_written_to(
    bench: Bench, tmp_path: Path, way: str
) -> None:
    finished = run(bench, tmp_path, way)
    assert finished.code == 4, finished.all
    assert "output: [Errno 22] another process put something there" in finished.all
    for elsewhere in tmp_path.glob("results/*/trials/*/elsewhere"):
        assert elsewhere.read_text() == "kept"


@pytest.mark.parametrize("way", ["own", "huge"])
def test_a_log_that_was_replaced_is_not_read(bench: Bench, tmp_path: Path, way: str) -> None:
    finished = run(bench, tmp_path, way)
    assert finished.code == 4, finished.all
    assert "a: ended with exit code 3 before it was ready" in finished.all


@pytest.mark.parametrize("way", ["forks", "renames", "floods"])
def test_what_it_does_to_processes_leaves_none(bench: Bench, tmp_path: Path, way: str) -> None:
    finished = run(bench, tmp_path, way)
    assert " good responses/s" in finished.all, finished.all
    assert [path for path in Path("/proc").glob("[0-9]*/cmdline") if _of(path, tmp_path)] == []
    for log in tmp_path.glob("results/*/trials/*/server-a.out"):
        assert log.stat().st_size <= 64 << 20
    assert (finished.result / "raw.md").stat().st_size < 1_000_000


def _of(line: Path, folder: Path) -> bool:
    try:
        return str(folder).encode() in line.read_bytes()
    except OSError:
        return False


def test_a_folder_of_any_depth_goes(tmp_path: Path) -> None:
    stored = tmp_path / "kept"
    stored.mkdir()
    (stored / "file").write_text("kept")
    (folder := tmp_path / "scratch").mkdir()
    (folder / "link").symlink_to(stored)
    deep = folder
    for _ in range(60):
        deep /= "d"
        deep.mkdir()
    for _ in range(40):  # a path beyond what one call takes
        below = tmp_path / "below"
        folder.rename(below)
        folder.mkdir()
        below.rename(folder / "below")
    (folder / "closed").mkdir(mode=0)
    emptied(folder)
    assert list(folder.iterdir()) == []
    assert (stored / "file").read_text() == "kept"


def test_what_is_no_file_has_no_content(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "huge").touch()
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "folder").mkdir()
    for name in ("link", "huge", "folder"):
        with pytest.raises(OutputDamaged, match=name):
            content_of(tmp_path / name)
