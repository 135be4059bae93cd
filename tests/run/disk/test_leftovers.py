"""What a killed benchforge leaves, the next one clears away; what lives it never touches."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults.watched import until
from present import present

from benchforge.run.disk import leftovers, scratch
from benchforge.run.disk.leftovers import place
from benchforge.run.sandbox import leftover_mark

PROGRAMS = Path(__file__).parents[2] / "programs"
# In a process of its own: the folders and marks of a benchforge that is killed.
LEAVES = """
import os, sys, time
from benchforge.run.disk import scratch
from benchforge.run.disk.scratch import claimed, scratch_folder
from pathlib import Path
scratch._SHORT = Path(os.environ["SHORT"])
with scratch_folder() as folder, claimed(Path(sys.argv[1]), sys.argv[2]) as half:
    (folder / "0").mkdir()
    (half / "file").write_text("half")
    print(folder, half, flush=True)
    time.sleep(60)
"""
# A keeper's mark on itself; what it starts leaves its session, its files and its environment.
MARKS = """
import os, subprocess, sys, time
from benchforge.run.sandbox import leftover_mark as marks
assert marks.mark(os.getpid())
subprocess.run([sys.executable, sys.argv[1], sys.argv[2]], env={}, close_fds=True, check=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
print(flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Folders of our own: others may measure meanwhile, and clear away."""
    (tmp_path / "tmp").mkdir()
    with tempfile.TemporaryDirectory(prefix="s-", dir="/tmp") as short:
        monkeypatch.setattr(scratch, "_SHORT", Path(short))
        monkeypatch.setattr(scratch, "_IN_MEMORY", tmp_path / "memory")
        monkeypatch.setenv("SHORT", short)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield


def started(program: str, *words: object) -> "subprocess.Popen[str]":
    line = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files with a long path."""
    (folder := tmp_path / ("t" * 100)).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_sockets_have_short_paths(deep: Path) -> None:
    with scratch.scratch_folder() as folder, socket.socket(socket.AF_UNIX) as database:
        (folder / "0").mkdir()
        database.bind(str(folder / "0/.s.PGSQL.65432"))
        assert len(list(deep.glob("bf-*/0/.s.PGSQL.65432"))) == 1
        assert not scratch.abandoned()
        (own,) = deep.iterdir()
        assert not scratch.removed(own)
        assert own.stat().st_mode & 0o777 == 0o700
    assert not list(deep.iterdir())
    assert not folder.parent.exists()


def test_a_short_path_goes_with_its_target(tmp_path: Path, deep: Path) -> None:
    with started(LEAVES, tmp_path, "half-") as process:
        link = Path(present(process.stdout).readline().split()[0])
        assert link.is_symlink()
        assert link.parent not in scratch.abandoned()
        process.kill()
    assert link.parent in scratch.abandoned()
    leftovers.cleared()
    assert not link.parent.exists()
    assert not list(deep.iterdir())


@pytest.mark.parametrize(("kind", "prefix"), [("templates", "half-"), ("runtimes", "0123abc.")])
def test_folders_are_removed_once_who_used_them_is_dead(kind: str, prefix: str) -> None:
    place(kind).mkdir(parents=True)
    with started(LEAVES, place(kind), prefix) as process:
        folders = [Path(item) for item in present(process.stdout).readline().split()]
        assert len(folders) == 2
        assert leftovers.cleared() == ""
        assert all(folder.exists() for folder in folders)
        process.kill()
    message = leftovers.cleared()
    assert message.startswith("left by a killed benchforge: removed ")
    # Where TMPDIR is long, the first is a short way, and its own folder is named.
    assert all(str(folder) in message or f"{folder.parent}, " in message for folder in folders)
    assert not any(folder.exists() for folder in folders)
    assert leftovers.cleared() == ""


def test_leftovers_in_memory_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "memory"))
    with started(LEAVES, tmp_path, "half-") as process:
        present(process.stdout).readline()
        (rest,) = (tmp_path / "memory").iterdir()
        assert leftovers.cleared() == ""
        process.kill()
    assert str(rest) in leftovers.cleared()
    assert not rest.exists()


def test_what_only_looks_like_ours_is_not_touched(tmp_path: Path) -> None:
    others = [tmp_path / "tmp" / name for name in ("bf-notes", "bf-empty", "bf-open", "bf-linked")]
    for other, mode in zip(others, (0o700, 0o700, 0o1777), strict=False):
        other.mkdir()
        other.chmod(mode)
    (others[0] / "owner").write_text("benchforge, process 1")
    others[3].symlink_to(tmp_path)
    linked = place("runtimes") / "0123abc.whole"
    linked.mkdir(parents=True)
    (place("runtimes") / "0123abc").symlink_to(linked.name)
    (place("runtimes") / "4567def.failed").mkdir()
    assert leftovers.cleared() == ""
    assert all(other.exists() for other in others)
    assert linked.exists()
    assert (place("runtimes") / "4567def.failed").exists()


# In a process of its own: SIGINT before each line of scratch.py in turn; what was left is counted.
INTERRUPTED = """
import contextlib, os, shutil, signal, sys, tempfile
from benchforge.run.disk import scratch
tempfile.tempdir = sys.argv[1]

def interrupted(before):
    lines = 0
    def at_line(frame, event, _):
        nonlocal lines
        if frame.f_code.co_filename != scratch.__file__:
            return None
        lines += event == "line"
        if event == "line" and lines == before:
            os.kill(os.getpid(), signal.SIGINT)
        return at_line
    sys.settrace(at_line)
    try:
        with contextlib.suppress(KeyboardInterrupt), scratch.scratch_folder() as folder:
            (folder / "0").mkdir()
    finally:
        sys.settrace(None)
    return lines >= before

line = left = 0
while interrupted(line + 1):
    line += 1
    for name in os.listdir(sys.argv[1]):
        left += 1
        shutil.rmtree(os.path.join(sys.argv[1], name))
print(line, left)
"""


def test_a_signal_before_any_line_leaves_no_scratch(tmp_path: Path) -> None:
    (path := tmp_path / "scratch").mkdir()
    with started(INTERRUPTED, path) as process:
        out, _ = process.communicate(timeout=60)
    lines, rest = map(int, out.split())
    assert lines > 40, "lines that make, use and remove it"
    # Python calls no __exit__ if a signal comes between the body of `with` and that call.
    assert rest <= 1


@contextmanager
def only_daemon(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", int, int]]:
    """Give a keeper, the number of its mark, and the daemon that alone is left below it."""
    with started(MARKS, PROGRAMS / "processes/daemon.py", folder / "ready") as keeper:
        present(keeper.stdout).readline()
        number = present(leftover_mark._carried(keeper.pid))

        def others() -> set[int]:
            return set(leftover_mark.carriers(number)) - {keeper.pid}

        until(lambda: len(others()) == 1)  # who forked it ends meanwhile
        yield keeper, number, others().pop()


def test_a_daemon_is_ended_once_its_keeper_is_dead_and_not_before(tmp_path: Path) -> None:
    with only_daemon(tmp_path) as (keeper, number, daemon):
        assert os.getsid(daemon) not in {os.getsid(0), keeper.pid}
        assert daemon not in leftover_mark.orphans()
        leftover_mark.mark(daemon)  # it only sinks: a later keeper below an earlier has its own
        assert leftover_mark._carried(daemon) != number
        os.kill(daemon, signal.SIGKILL)
        keeper.kill()
    assert leftover_mark.carriers(number) == []


def test_who_carries_the_mark_of_the_dead_is_named_and_ended(tmp_path: Path) -> None:
    with only_daemon(tmp_path) as (keeper, number, daemon):
        keeper.kill()
    assert daemon in leftover_mark.orphans()
    message = leftovers.cleared()
    assert f"process {daemon} (" in message
    assert "daemon.py" in message
    assert leftover_mark.carriers(number) == []
    assert daemon not in leftover_mark.orphans()
