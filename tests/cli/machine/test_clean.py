"""`benchforge clean`, by the front door: what is ours goes, what is used or another's stays."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, Told, bench_words, calls, needed
from measured.small_results import shared
from present import present
from suite_texts.with_pace import suite

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    """An environment with a cache and a folder for scratch of its own."""
    (tmp_path / "t").mkdir()
    folders = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "t")}
    return {**os.environ, **folders}


@pytest.fixture
def bench(tmp_path: Path, own: dict[str, str]) -> Bench:
    return calls(bench_words(), tmp_path, own)


def cached(folder: Path) -> tuple[Path, Path]:
    """A template and a runtime, as they are kept; and beside them what is not ours."""
    template = folder / "cache/benchforge/templates" / KEY
    runtimes = folder / "cache/benchforge/runtimes"
    runtime = runtimes / f"{KEY}.abcdefgh"
    for item in (template, runtime, template.with_name("mine"), runtimes / "mine"):
        item.mkdir(parents=True)
        (item / "content").write_bytes(b"x" * 100_000)
    template.with_name(f"{KEY}.for").write_text("backend redis, built for cache")
    (runtime / "requirements.in").write_text("six==1.16.0\n")
    (runtimes / KEY).symlink_to(runtime.name)
    return template, runtime


def in_terminal(mine: dict[str, str], folder: Path, typed: str, *words: str) -> Told:
    """Call it where it can ask, and answer."""
    terminal, theirs = pty.openpty()
    words_ = bench_words(*words)
    pipes: dict[str, Any] = {"stdin": theirs, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words_, cwd=folder, env=mine, text=True, **pipes) as process:
        os.close(theirs)
        question = "".join(until_it_asks(process))
        os.write(terminal, typed.encode())
        out, err = process.communicate(timeout=3000)
        os.close(terminal)
    return Told(process.returncode, out, question + err)


def until_it_asks(process: subprocess.Popen[str]) -> Iterator[str]:
    """Yield what it prints until it asks: like a person, who types no answer before a question."""
    while letter := present(process.stderr).read(1):
        yield letter
        if letter == ":":
            return


def test_what_is_ours_goes_but_only_where_somebody_agrees(bench: Bench, tmp_path: Path) -> None:
    template, runtime = cached(tmp_path)
    call = bench("clean", code=2)
    assert "no terminal to confirm: nothing was removed" in call.err
    assert "hint: add --yes" in call.err
    assert "cache: 2 folders, " in call.out
    assert f"template {template}: backend redis, built for cache" in call.out
    assert f"runtime {runtime}: six==1.16.0" in call.out
    assert (template / "content").exists()
    assert (runtime / "content").exists()
    assert "removed 2 folders, " in bench("clean", "--yes", code=0).err
    assert [path.name for path in template.parent.iterdir()] == ["mine"]
    assert [path.name for path in runtime.parent.iterdir()] == ["mine"]
    assert "nothing to remove" in bench("clean", "--yes", code=0).err


@pytest.mark.parametrize("name", ["hosts", "far"])
def test_what_was_brought_to_this_host_goes_under_its_older_name_too(
    bench: Bench, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "cache/benchforge" / name
    for path in (f"{KEY}-0a1b2c3d/bin", "files", "mine"):
        (folder / path).mkdir(parents=True)
    listed = bench("clean", "--yes", code=0)
    assert f"host {folder}/{KEY}-0a1b2c3d: benchforge, for runs" in listed.out
    assert [rest.name for rest in folder.iterdir()] == ["mine"]


def test_clean_asks_before_it_removes(own: dict[str, str], tmp_path: Path) -> None:
    template, _ = cached(tmp_path)
    for typed, entries in (("n\n", True), ("y\n", False)):
        actual = in_terminal(own, tmp_path, typed, "clean")
        assert actual.code == 0, actual.all
        assert "remove 2 folders of the cache?" in actual.err
        assert template.exists() is entries


def test_only_what_is_old_is_meant(bench: Bench, tmp_path: Path) -> None:
    template, runtime = cached(tmp_path)
    used = time.time() - 40 * 86400
    os.utime(template, (used, used))
    bench("clean", "--older-than", "30d", "--yes", code=0)
    assert not template.exists()
    assert runtime.exists()


def test_results_go_where_their_folder_is_named(
    bench: Bench, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    full = shared(tmp_path_factory)
    first, second = (
        Path(shutil.copytree(full, tmp_path / f"results/{full.name}{letter}")) for letter in "ab"
    )
    shutil.rmtree(second / "trials/0002")
    (first / "notes.txt").write_text("mine")
    (first / "trials/notes.txt").write_text("mine too")
    (tmp_path / "results/other").mkdir()
    (tmp_path / "results/other/result.json").write_text('{"kind": "of another"}')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("")
    (tmp_path / "results/link").symlink_to(elsewhere)
    call = bench("clean", code=0)
    assert f"results/{first.name}: finished, 6 of 6 measurements" in call.out
    assert f"results/{second.name}: unfinished, 5 of 6 measurements" in call.out
    assert f"stays: results/{first.name}/notes.txt, which benchforge did not write" in call.out
    assert "results are kept; to remove them, name their folder with --results" in call.err
    bench("clean", "--results", "results", code=2)
    assert (second / "result.json").exists()
    call = bench("clean", "--results", "results", "--yes", "--older-than", "9d")
    assert (call.code, second.exists()) == (0, True), call.all
    bench("clean", "--results", "results", "--yes", code=0)
    items = sorted(str(path.relative_to(tmp_path / "results")) for path in first.rglob("*"))
    assert items == [f"{first.name}/{name}" for name in ("notes.txt", "trials", "trials/notes.txt")]
    assert not second.exists()
    assert (tmp_path / "results/other/result.json").exists()
    assert (elsewhere / "kept").exists()


def test_what_is_used_stays(bench: Bench, own: dict[str, str], tmp_path: Path) -> None:
    """By a benchforge that serves: it has the template of its backend in use."""
    needed("redis-server", "redis-cli")
    _, runtime = cached(tmp_path)
    path = suite(tmp_path, top='[backends.cache]\nuse = "redis"\ndataset = "foo"\n')
    path.write_text(path.read_text().replace('["pace"]', '["pace"]\nbackends = ["cache"]'))
    short = ("repeat.blocks=1", "scenarios.ping.servers=['one']")
    bench("run", path, *(word for item in short for word in ("--set", item)), code=0)
    templates = runtime.parents[1] / "templates"
    (name,) = {item.name for item in templates.iterdir() if item.is_dir()} - {KEY, "mine"}
    template, note = templates / name, templates / f"{name}.for"
    assert note.read_text() == "backend redis, built for cache"
    idle = [sys.executable, "-c", f"import time; time.sleep(60) # {runtime}/bin/python"]
    serve = bench_words("serve", path, "one")
    with (
        subprocess.Popen(serve, cwd=tmp_path, env=own, stdout=subprocess.PIPE) as serves,
        subprocess.Popen(idle) as runs,
    ):
        try:
            assert present(serves.stdout).readline()
            call = bench("clean", "--yes", code=0)
            assert f"stays: {template}: used by a benchforge that runs" in call.err
            assert f"stays: {runtime}: used by process {runs.pid}" in call.err
            assert (template.exists(), runtime.exists()) == (True, True)
            assert not (templates / KEY).exists()
        finally:
            serves.terminate()
            runs.kill()
    bench("clean", "--yes", code=0)
    assert not template.exists()


def test_clean_removes_leftovers_of_a_kill(
    bench: Bench, own: dict[str, str], tmp_path: Path
) -> None:
    serve = bench_words("serve", suite(tmp_path), "one")
    with subprocess.Popen(serve, cwd=tmp_path, env=own, stdout=subprocess.PIPE) as serves:
        try:
            assert present(serves.stdout).readline()
            call = bench("clean")
            assert str(tmp_path / "t") not in call.out, call.all
        finally:
            serves.send_signal(signal.SIGKILL)
    # Its logs, its scratch; and what another had not yet made a result, or was removing.
    (half := tmp_path / "results/.bf-0123abcd").mkdir(0o1700, parents=True)
    rest = [half, *(tmp_path / "t").iterdir()]
    assert {item.name[:8] for item in rest} >= {"bf-serve", ".bf-0123"}
    assert len(rest) == 3
    call = bench("clean", code=2)
    assert "left by a killed benchforge:\n" in call.out
    output = [f"  {item}\n" for item in ("results/.bf-0123abcd", *rest[1:])]
    assert [item for item in output if item not in call.out] == []
    assert all(item.exists() for item in rest)
    bench("clean", "--yes", code=0)
    assert not any(item.exists() for item in rest)


def test_nothing_goes_during_a_run(bench: Bench, own: dict[str, str], tmp_path: Path) -> None:
    template, _ = cached(tmp_path)
    path = suite(tmp_path, blocks=50)
    words = bench_words("run", path)
    with subprocess.Popen(words, cwd=tmp_path, env=own, stderr=subprocess.PIPE) as runs:
        try:
            while runs.poll() is None and not list(tmp_path.glob("results/*/trials/*")):
                time.sleep(0.05)
            call = bench("clean", "--results", "results", "--yes", code=2)
            assert f"benchforge run (process {runs.pid}) is measuring: nothing was" in call.err
        finally:
            runs.terminate()
            runs.communicate(timeout=300)
    assert template.exists()
    (header,) = tmp_path.glob("results/*/result.json")
    assert json.loads(header.read_text())["kind"] == "result"
