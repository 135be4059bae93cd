"""Tools with which authors of plugins test.

Write `pytest_plugins = ["benchforge.testing"]` in conftest.py.

Fixtures: `suite_file` writes a suite, `run_suite` runs one as the command does, on real processes,
`fake_host` runs one without any. `PartContract` is a class of tests to inherit: it asks a part what
`benchforge plugins check` asks. This module needs pytest, which benchforge itself does not.
"""

import contextlib
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import JsonValue

from benchforge.cli.app import called
from benchforge.cli.console.lock import WAITING
from benchforge.cli.plugins.examination.examine import Examined, examine
from benchforge.cli.plugins.examination.inputs import Recording
from benchforge.cli.plugins.wanted import wanted
from benchforge.model.files.folder import read_header, read_summary, read_trials
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry
from benchforge.testing.fake_host import FakeHost, RecordedStart

__all__ = [
    "FakeHost",
    "PartContract",
    "Ran",
    "RecordedStart",
    "RunSuite",
    "SuiteFile",
    "assert_contract",
    "fake_host",
    "run_suite",
    "suite_file",
]


@dataclass(frozen=True)
class Ran:
    """What `benchforge run` gave: its exit code, what it printed, and its folder of results."""

    code: int
    out: str
    err: str
    folder: Path | None
    "Folder of the result; None without a measurement."

    @property
    def header(self) -> Header:
        """What was known before the first trial."""
        return read_header(self._there)

    @property
    def trials(self) -> list[Trial]:
        """Every trial that was kept, in their order."""
        return [*read_trials(self._there)]

    @property
    def summary(self) -> Summary:
        """Every metric of every case."""
        return read_summary(self._there)

    @property
    def _there(self) -> Path:
        if self.folder is None:
            raise AssertionError(self.err)
        return self.folder


SuiteFile = Callable[..., Path]
"Takes the text of a suite and perhaps a file name, and returns the path."

RunSuite = Callable[..., Ran]
"Takes a suite's text or path, and further words of `benchforge run`."


@pytest.fixture
def suite_file(tmp_path: Path) -> SuiteFile:
    """Write the text of a suite into the test's folder."""

    def write(text: str, name: str = "suite.toml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def run_suite(tmp_path: Path, suite_file: SuiteFile, pytestconfig: pytest.Config) -> RunSuite:
    """Run a suite as `benchforge run` does; its results lie in the test's folder.

    A wait for another benchforge that measures is printed at once.
    """
    capturing = pytestconfig.pluginmanager.getplugin("capturemanager")
    showing = getattr(capturing, "global_and_fixture_disabled", contextlib.nullcontext)

    def run(suite: str | Path, *words: str) -> Ran:
        path = suite_file(suite) if isinstance(suite, str) else suite
        results = tmp_path / "results"
        folders_before = set(results.glob("*"))
        out, err = io.StringIO(), _Heard(showing)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = called(["run", str(path), "-o", str(results), *words])
        folder = next(iter(set(results.glob("*")) - folders_before), None)
        return Ran(code, out.getvalue(), err.getvalue(), folder)

    return run


@pytest.fixture
def fake_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[FakeHost]:
    """Give the class FakeHost, with a cache of its own: what it prepares is no use to real runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return FakeHost


def assert_contract(
    part: str, recordings: Iterable[Path] = (), options: Mapping[str, JsonValue] | None = None
) -> Examined:
    """Ask a part all that `benchforge plugins check` asks; raise AssertionError with its defects.

    `part` is a name like "loader-mine". Every recording of a load tool must have a reading; there
    has to be one. Raises Unusable when there is no such part, or it cannot be used.
    """
    registry = Registry()
    cls = registry.part(*wanted(registry, part)[0])
    examined = examine(cls, options, [Recording.of(path) for path in recordings])
    faults = [
        *examined.defects,
        *(f"{read.name}: no reading: {read.refused}" for read in examined.readings if read.refused),
    ]
    if issubclass(cls, Driver) and not examined.readings:
        faults.append("no recording: what read() makes of a real output is not known")
    if faults:
        raise AssertionError("\n".join([f"{part}: {len(faults)} faults", *faults]))
    return examined


class PartContract:
    """Tests that every part passes: inherit, and say which part it is.

    class TestContract(PartContract):
        part = "loader-mine"
        recordings = (Path(__file__).parent / "outputs/healthy",)
    """

    part: ClassVar[str]
    options: ClassVar[Mapping[str, JsonValue]] = {}
    "Required options, as in a suite."
    recordings: ClassVar[Sequence[Path]] = ()
    "Recordings of a load tool: files of its output, or folders of its files."

    def test_it_does_what_every_part_of_its_kind_does(self) -> None:
        """No request is dropped, nothing damaged is believed, no question crashes it."""
        assert_contract(self.part, self.recordings, self.options)


class _Heard(io.StringIO):
    """What is printed on stderr; pytest would show a wait once it is over."""

    def __init__(self, showing: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        super().__init__()
        self._showing = showing

    def write(self, text: str) -> int:
        if WAITING in text:
            with self._showing():
                print(text.rstrip(), file=sys.__stderr__, flush=True)
        return super().write(text)
