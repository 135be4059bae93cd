"""Calls of benchforge that are not started anew: a process that has imported it is forked.

Most of a short call is imports, and the tests make thousands. Each fork has its own words, folder,
environment and outputs, and what it changes ends with it.
"""

import atexit
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import TimeoutExpired

import click

from benchforge.cli import group

# What an interpreter reads when it starts: who changes that wants a new one.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "FAKETIME")
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [f"benchforge.cli.{name}" for name in group.list_commands(click.Context(group))]
)


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_READ_AT_START)}


_STARTED_WITH = _read_at_start(os.environ)


def may(environment: Mapping[str, str]) -> bool:
    """Whether a call in this environment is the same as that of a new interpreter."""
    return _read_at_start(environment) == _STARTED_WITH


def call(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], within_s: float
) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of `benchforge` with these words, called in a folder.

    Raises TimeoutExpired.
    """
    with tempfile.TemporaryDirectory(prefix="warm-") as outputs:
        out, err = Path(outputs, "out"), Path(outputs, "err")
        told = [*words], str(folder), dict(environment), str(out), str(err)
        process = _FORKS.Process(target=_called, args=told)
        process.start()
        process.join(within_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutExpired(["benchforge", *words], within_s)
        return process.exitcode, out.read_text(), err.read_text()


def _called(
    words: Sequence[str], folder: str, environment: Mapping[str, str], out: str, err: str
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate((os.devnull, out, err)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    here = str(Path(__file__).parent)
    sys.path[:] = [folder, *(path for path in sys.path if path not in {"", here})]
    sys.argv[:] = ["benchforge", *words]
    tempfile.tempdir = None
    from benchforge.__main__ import main  # noqa: PLC0415 - in the fork alone

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # a fork ends without them
