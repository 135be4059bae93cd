"""Calls of benchforge that are not started anew: a process that has imported it is forked.

Most of a short call is imports, and the tests make thousands. Each fork has its own words, folder,
environment and outputs, and what it changes ends with it.
"""

import atexit
import contextlib
import functools
import multiprocessing
import os
import pkgutil
import runpy
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from multiprocessing import forkserver
from pathlib import Path
from subprocess import TimeoutExpired

# What an interpreter reads when it starts: who changes that wants a new one.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "FAKETIME")
_DONE_HERE = {"PYTHONPATH", "PYTHONUNBUFFERED"}
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["preloaded"])


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_START) and name not in _DONE_HERE
    }


_STARTED_WITH = _read_at_start(os.environ)
_PYTHONPATH = os.environ.get("PYTHONPATH", "")
_AT_START = {"sitecustomize", "usercustomize"}


def may(environment: Mapping[str, str]) -> bool:
    """Whether a call in this environment is the same as that of a new interpreter."""
    return _read_at_start(environment) == _STARTED_WITH and not any(
        _shadows(folder) for folder in _added(environment)
    )


def _added(environment: Mapping[str, str]) -> list[str]:
    """Return the folders that an environment adds to where modules are found."""
    value = environment.get("PYTHONPATH", "")
    return [] if value == _PYTHONPATH else value.split(os.pathsep)


def _shadows(folder: str) -> bool:
    """Whether a folder has a module that is elsewhere, too: a fork may have imported the other.

    Nor can a fork read what an interpreter reads of a folder as it starts.
    """
    if not Path(folder).is_absolute():
        return True
    names = {module.name for module in pkgutil.iter_modules([folder])}
    others = [path for path in sys.path if path != folder]
    return bool(names & _AT_START) or any(
        finder.find_spec(name, others) for name in names for finder in sys.meta_path
    )


def call(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    within_s: float,
    *,
    as_seen: bool = False,
    program: Path | None = None,
) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of `benchforge` with these words, called in a folder.

    `as_seen` has stdout and stderr in one text, as a terminal shows them; it is returned as stdout.
    `program` is a program of the tests, instead of benchforge.
    Raises TimeoutExpired.
    """
    with tempfile.TemporaryDirectory(prefix="warm-") as outputs:
        out = Path(outputs, "out")
        err = out if as_seen else Path(outputs, "err")
        called = Called(words, folder, environment, out, err, program)
        try:
            code = called.wait(within_s)
        finally:
            called.kill()
        return code, out.read_text(), "" if as_seen else err.read_text()


class Called:
    """A call that may still run, as subprocess.Popen has it. Its outputs are added to two files."""

    def __init__(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: Path,
        err: Path,
        program: Path | None = None,
    ) -> None:
        start()
        paths = [str(folder), *_added(environment)]
        actual = [*words], paths, dict(environment), str(out), str(err), program
        self._words, self._outputs = words, (out, err)
        self._process = _FORKS.Process(target=_called, args=actual)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutExpired(["benchforge", *self._words], timeout or 0.0)
        return self._process.exitcode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        self.wait(timeout)
        out, err = self._outputs
        return out.read_text(), err.read_text()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
        self._process.join()


@functools.cache
def start() -> None:
    """Start the process that is forked: it looks for what it preloads in its current folder."""
    with contextlib.chdir(Path(__file__).parent):
        forkserver.ensure_running()


def _called(
    words: Sequence[str],
    paths: Sequence[str],
    environment: Mapping[str, str],
    out: str,
    err: str,
    program: Path | None,
) -> None:
    if "preloaded" not in sys.modules:  # the server passes over what it cannot import
        raise RuntimeError("tests/support/preloaded.py was not imported before the fork")
    os.chdir(paths[0])
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate((os.devnull, out, err)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    if out == err:
        assert isinstance(sys.stdout, TextIOWrapper)
        sys.stdout.reconfigure(line_buffering=True)
    text = str(Path(__file__).parent)
    known_values = [path for path in sys.path if path not in {"", text}]
    sys.path[:] = [*paths, *known_values]
    sys.argv[:] = [str(program or "benchforge"), *words]
    tempfile.tempdir = None
    if program is not None:
        runpy.run_path(str(program), run_name="__main__")
        return
    from benchforge.__main__ import main  # noqa: PLC0415 - in the fork alone

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # a fork ends without them
