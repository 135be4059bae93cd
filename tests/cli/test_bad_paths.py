"""Paths that no system can have, or that lead nowhere useful: one line, and no traceback."""

import os
import subprocess
from pathlib import Path

import pytest
from front_door import Bench, bench_words, captured, needed, needed_module
from suite_texts.with_pace import alone

LONG = "a" * 300
DEEP = "/".join(["b" * 200] * 30)


@pytest.mark.parametrize("path", [LONG, DEEP])
@pytest.mark.parametrize(
    "words",
    [
        *(("report",), ("compare", "results"), ("validate",), ("verify",), ("history",)),
        *(("clean", "--results"), ("run", "--resume"), ("run", "suite.toml", "-o"), ("check",)),
        *(("plan",), ("new", "suite"), ("schema", "suite", "-o")),
    ],
    ids=" ".join,
)
def test_a_path_that_is_too_long_is_told(bench: Bench, words: tuple[str, ...], path: str) -> None:
    call = bench(*words, path, code=2)
    assert call.err == f"error: {path}: File name too long\nhint: name another path\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_path_through_a_closed_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    for command in ("report", "validate"):
        words = bench_words(command, tmp_path / "closed" / "result")
        # Without root's rights, and still able to read our own interpreter.
        words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *words]
        (tmp_path / "closed").chmod(0)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 2), done.stderr
        assert "Permission denied" in done.stderr


@pytest.mark.parametrize(
    ("directory", "says"),
    [
        ("/", "/ is the whole file system"),
        (LONG, "a name in a path takes 255 bytes at most"),
        ("x/" * 2500, "a path takes 4000 bytes at most"),
    ],
    ids=["root", "a long name", "a long path"],
)
def test_a_wrong_app_directory(bench: Bench, tmp_path: Path, directory: str, says: str) -> None:
    needed_module("gunicorn")
    path = alone(tmp_path, f'use = "gunicorn"\napp = "mine:app"\ndirectory = "{directory}"')
    for command in ("check", "run"):
        call = bench(command, path, code=2)
        assert says in call.all
        assert "its plugin is at fault" not in call.all
    assert not (tmp_path / "results").exists()


def test_a_full_scratch_disk_is_told_by_its_name(tmp_path: Path) -> None:
    """A database's own words name a file that nobody knows; what is full is told beside them."""
    needed("postgres", "initdb", "psql")
    full = tmp_path / "t"
    full.mkdir()
    path = alone(tmp_path, top='[backends.db]\nuse = "postgresql"\ndataset = "agents"')
    text = path.read_text().replace('loaders = ["pace"]', 'loaders = ["pace"]\nbackends = ["db"]')
    path.write_text(text)
    mounted = 'mount -t tmpfs -o size=40m none "$TMPDIR" && exec "$@"'
    first = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, "-"]
    if subprocess.run([*first[:4], "true"], check=False, capture_output=True).returncode:
        pytest.skip("user namespaces are refused here already")
    environment = {**os.environ, "TMPDIR": str(full), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = [*first, *bench_words("run", path)]
    for _ in ("while the cluster is made", "while it is copied, where that fits"):
        done = captured(words, cwd=tmp_path, env=environment)
        assert done.returncode in {4, 5}, done.stderr
        everything = done.stdout + done.stderr
        assert f"a disk is full: {full} has " in everything, everything
        assert "Traceback" not in everything
