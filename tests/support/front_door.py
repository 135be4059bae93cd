"""What the tests that come in by the command line share."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
import warm

from benchforge.run.locate import libraries, locate

WAITS_S = 300.0  # for what comes at once on a quiet machine
PROGRAMS = Path(__file__).parents[1] / "programs"
OWN_PLACE = [sys.executable, str(Path(__file__).with_name("own_place.py"))]


@dataclass(frozen=True)
class Told:
    """What a call of benchforge gave."""

    code: int
    out: str
    err: str
    folder: Path = Path()

    @property
    def all(self) -> str:
        return self.out + self.err

    @property
    def result(self) -> Path:
        """The only result below the folder of the call."""
        (result,) = (self.folder / "results").iterdir()
        return result


Bench = Callable[..., Told]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call benchforge in a folder of its own."""
    return calls(bench_words(), tmp_path)


def calls(
    program: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> Bench:
    """Return the same for a benchforge that is started by these words."""

    def call(*words: str | Path, within_s: float = WAITS_S, code: int | None = None) -> Told:
        """Call it, and fail unless it ends with this exit code, where one is given."""
        variables = os.environ if environment is None else environment
        texts = [str(word) for word in words]
        if program == bench_words() and warm.may(variables):
            result = Told(*warm.call(texts, folder, variables, within_s), folder)
        else:
            done = captured([*program, *texts], cwd=folder, env=environment, timeout=within_s)
            result = Told(done.returncode, done.stdout, done.stderr, folder)
        assert "Traceback" not in result.all, result.all
        assert code in {None, result.code}, result.all
        return result

    return call


def captured(
    words: Sequence[str | Path], *, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program that reads `input` alone, and return its exit code and what it printed."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(words, capture_output=True, text=True, check=check, **options)


def forked(program: Path, *words: str | Path, folder: Path) -> Told:
    """Run a program of the tests that imports benchforge, as `bench` calls benchforge itself."""
    options = [str(word) for word in words]
    return Told(*warm.call(options, folder, os.environ, WAITS_S, program=program))


def attempts(folder: Path) -> Iterator[Path]:
    """Yield a folder for each of five attempts, since a neighbour may spoil some."""
    for number in range(1, 6):
        (path := folder / f"{number}").mkdir()
        yield path


def bench_words(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "benchforge", *map(str, words)]


def lack(subject: str) -> NoReturn:
    """Leave a test that cannot run here; where everything must be there, it fails."""
    if "CI" in os.environ:
        pytest.fail(subject)
    pytest.skip(subject)


def program_words(name: str) -> list[str]:
    """Return what starts a program from a shell, also one that was unpacked and not installed."""
    needed(name)
    program = locate(name)
    assert program is not None
    options = [f"{variable}={value}" for variable, value in libraries(program).items()]
    return [*(["env", *options] if options else []), str(program)]


def needed(*programs: str) -> None:
    """Leave the test where a program is missing."""
    missing = [program for program in programs if locate(program) is None]
    if missing:
        lack(f"missing: {missing}")


def needed_tool(loader: str) -> None:
    """Leave the test where the load tool of a table is missing; k6 and wrk2 have no package."""
    (tool,) = re.findall(r'^use = "(\w+)"', loader, re.MULTILINE)
    if tool in {"k6", "wrk2"} and locate(tool) is None:
        pytest.skip(f"missing: {tool}; its recordings are read")
    if tool == "locust":
        needed_module(tool)
    elif tool != "pace":
        needed(tool)


def needed_module(name: str) -> None:
    """Leave the test where a package is missing."""
    if importlib.util.find_spec(name) is None:
        lack(f"missing: {name}")


def answering(*options: str) -> str:
    """Return the TOML of a command that serves what its options say, each answer after 3 ms.

    One that answers at once has a load take the CPUs of a small machine from the tests beside it.
    """
    words = [sys.executable, PROGRAMS / "servers/answers.py", "--port", "{port}", "--wait", "0.003"]
    quoted = ", ".join(f"'{word}'" for word in [*words, *options])
    return f'use = "command"\ncommand = [{quoted}]\n'
