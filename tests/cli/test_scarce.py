"""Little of what a machine gives: a sentence and the exit code, and no traceback."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from front_door import Told, bench_words, captured, lack, needed
from suite_texts.files import suite_text
from users import NOBODY, as_root

SUITE = suite_text("cli/scarce")
MEMORY = "error: memory ran out\nhint: raise the limit (ulimit -v), or end other programs\n"
FILES = "error: Too many open files: all descriptors are in use\nhint: raise the limit (ulimit -n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.toml").write_text(SUITE)
    for name in ("disk", "home/.cache"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def limited(folder: Path, limit: int, most: int, *words: str) -> Told:
    done = captured(
        bench_words(*words), cwd=folder, preexec_fn=lambda: resource.setrlimit(limit, (most, most))
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Told(done.returncode, done.stdout, done.stderr, folder)


@pytest.mark.parametrize("words", [("run", "a.toml"), ("check", "a.toml"), ("doctor",)])
def test_too_little_memory_is_one_sentence(folder: Path, words: tuple[str, ...]) -> None:
    """Imports fail for it, too, and those of the error's own sentence."""
    done = limited(folder, resource.RLIMIT_AS, 40_000 << 10, *words)
    assert (done.code, done.err) == (4, MEMORY)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kilobytes", range(25_000, 80_000, 5_000))
def test_memory_that_ends_anywhere_is_one_error(folder: Path, kilobytes: int) -> None:
    done = limited(folder, resource.RLIMIT_AS, kilobytes << 10, "run", "a.toml")
    assert done.code == 0 or (done.code == 4 and done.err.endswith(MEMORY)), done.all


@pytest.mark.parametrize("words", [("run", "a.toml"), ("doctor",)])
def test_too_few_descriptors_are_one_error(folder: Path, words: tuple[str, ...]) -> None:
    done = limited(folder, resource.RLIMIT_NOFILE, 5, *words)
    assert done.code == 4
    assert done.err.startswith(FILES), done.err


def test_a_run_whose_descriptors_end_goes_on_with_more(folder: Path) -> None:
    done = limited(folder, resource.RLIMIT_NOFILE, 17, "run", "a.toml")
    assert (done.code, FILES in done.err) == (4, True), done.all
    result = done.result
    assert f"to continue: benchforge run --resume results/{result.name} --anyway\n" in done.err
    done = limited(folder, resource.RLIMIT_NOFILE, 1024, "run", "--resume", str(result), "--anyway")
    assert done.code == 0, done.all
    assert (result / "trials/0001/trial.json").exists()


def test_an_output_that_is_full_ends_in_a_sentence(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        words = bench_words("check", "a.toml")
        ended = subprocess.run(
            words, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, "Traceback" in ended.stderr) == (5, False)
    assert "No space left on device" in ended.stderr


Mounting = Callable[[str], list[Told]]
FULL = 'full() { mount -t tmpfs -o size=64k none "$1"; head -c 99999 /dev/zero > "$1/fill"; }'
CLOSED = 'closed() { mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"; }'
CALL = (
    'bench() {{ {words} "$@" >"$SAYS/$n.out" 2>"$SAYS/$n.err"; echo $? >"$SAYS/$n"; n=$((n+1)); }}'
)


@pytest.fixture
def mounting(folder: Path) -> Mounting:
    """Runs a script that calls `bench`, in mounts of its own: `full` and `closed` make some."""
    if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
        lack("mounts are not allowed here")
    says = folder / "says"
    says.mkdir()

    def ran(script: str) -> list[Told]:
        call = CALL.format(words=" ".join(bench_words()))
        words = ["unshare", "-rm", "sh", "-c", f"n=0\n{FULL}\n{CLOSED}\n{call}\n{script}"]
        environment = {**os.environ, "HOME": str(folder / "home"), "SAYS": str(says)}
        captured(words, cwd=folder, env=environment)
        done = []
        for err in sorted(says.glob("*.err")):
            code, out = (err.with_suffix(suffix).read_text() for suffix in ("", ".out"))
            done.append(Told(int(code), out, err.read_text()))
        assert not [call for call in done if "Traceback" in call.all]
        return done

    return ran


@pytest.mark.parametrize(
    "script",
    [
        "closed home",
        "closed home/.cache",
        "export XDG_CACHE_HOME=$PWD/home/.cache; closed $XDG_CACHE_HOME",
    ],
)
def test_a_read_only_cache_stops_no_measurement(mounting: Mounting, script: str) -> None:
    last = "bench run a.toml" if script == "closed home" else "bench check a.toml"
    doctor, done = mounting(f"{script}; bench doctor a.toml --json; {last}")
    assert (doctor.code, done.code) == (0, 0), doctor.all + done.all
    (cache,) = [load for load in json.loads(doctor.out)["machine"] if load["subject"] == "cache"]
    assert (cache["state"], "cannot write it" in cache["says"]) == ("warn", True)


@as_root
def test_an_ordinary_user_with_a_closed_home_is_told() -> None:
    home = Path(tempfile.mkdtemp(prefix="home-"))
    os.chown(home, 65534, 65534)
    home.chmod(0o500)
    root = str(Path(__file__).parents[2])
    paths = [path for path in sys.path if "site-packages" in path or path.startswith(root)]
    python = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    if not Path(python).exists():
        lack(f"{python}, which every user may start")
    done = captured(
        [*NOBODY, python, "-m", "benchforge", "doctor", "--json"],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": os.pathsep.join(paths)},
        cwd="/",
    )
    shutil.rmtree(home)
    assert done.returncode == 0, done.stderr
    actual = {item["subject"]: item for item in json.loads(done.stdout)["machine"]}
    assert "cannot write it" in actual["cache"]["says"]
    # Allowed or not: it was tried.
    assert {actual[name]["state"] for name in ("own network", "own processes")} <= {"ok", "warn"}


def test_a_folder_that_is_full_takes_nothing_and_reads_go_on(mounting: Mounting) -> None:
    check, new, run, duel = mounting("""
        full disk; cp a.toml /; cd disk
        bench check ../a.toml; bench new suite n; bench run ../a.toml
        bench duel --time 5s "{python} -m http.server {port}" "{python} -m http.server {port}"
    """)
    assert check.code == 0
    assert [new.code, run.code, duel.code] == [5, 5, 5], new.all + run.all + duel.all
    assert "No space left on device\nhint: give another PATH" in new.err
    assert "too little space: 0 B free, 32 MB needed\nhint: free some, or " in run.err
    assert duel.err.endswith("device\nhint: choose another folder with --save or -o\n"), duel.err


def test_a_full_cache_is_an_error_before_a_build(folder: Path, mounting: Mounting) -> None:
    needed("uv")
    runtime = f'\n[runtimes.own]\npython = "{sys.executable}"\nrequires = ["waitress"]\n'
    text = SUITE.replace('app = "hello_wsgi"', 'app = "hello_wsgi"\nruntime = "own"') + runtime
    (folder / "a.toml").write_text(text)
    (done,) = mounting("full home/.cache; bench run a.toml")
    assert done.code == 5, done.all
    assert f"error: {folder}/home/.cache/benchforge/runtimes: too little space: " in done.err
    assert done.err.endswith("hint: free some, or set XDG_CACHE_HOME to another folder\n")


def test_scratch_that_fills_up_ends_the_run_which_goes_on_with_space(mounting: Mounting) -> None:
    run, report, resumed = mounting("""
        mount -t tmpfs -o size=60m none disk; export TMPDIR=$PWD/disk
        bench run a.toml --set repeat.blocks=20 &
        until [ -e results/*/trials/0001/trial.json ] || ! kill -0 $!; do sleep 0.02; done
        head -c 60000000 /dev/zero > disk/fill; wait $!; n=1
        bench report results/*
        rm disk/fill
        bench run --resume results/* --time-limit 4s
    """)
    assert run.code == 5, run.all
    assert "finished trials were kept; to continue: benchforge run --resume results/a-" in run.err
    assert report.code in {0, 5}, report.all
    again = r"^resumed: [1-9]\d* of 20 .*^\[ *\d+/20\] "
    assert re.search(again, resumed.err, re.DOTALL | re.MULTILINE)
