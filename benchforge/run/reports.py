"""The files that show a result: written beside it, and compared with it later."""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from pathlib import Path

from benchforge.model.file import Fault
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.parts.part import Reporter
from benchforge.registry import Registry

REPORTERS = ("markdown", "html", "csv")
_TRIALS = "trials"


def reporter(registry: Registry, name: str) -> Reporter:
    """Return a reporter without options."""
    part = registry.part("reporter", name)()
    assert isinstance(part, Reporter)  # noqa: S101 - the kind says so
    return part


def write_reports(
    summary: Summary, trials: Sequence[Trial], registry: Registry, folder: Path
) -> list[Path]:
    """Write every report into a folder that has the trials. Raises OSError where it cannot."""
    written: list[Path] = []
    for name in REPORTERS:
        written += reporter(registry, name).report(summary, trials, folder)
    return written


def stale_reports(
    summary: Summary, trials: Sequence[Trial], registry: Registry, folder: Path
) -> Iterator[Fault]:
    """Yield the reports in a folder that are not what its result gives; one may be missing."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / _TRIALS).symlink_to((folder / _TRIALS).resolve())
        for again in write_reports(summary, trials, registry, Path(place)):
            there = folder / again.relative_to(place)
            if there.is_file() and there.read_bytes() != again.read_bytes():
                yield Fault(there, "", _first(there, again), "is not what the result gives")


def _first(one: Path, other: Path) -> int:
    """Return the number of the first line that is another."""
    lines = zip_longest(*(file.read_bytes().split(b"\n") for file in (one, other)))
    return next(number for number, (then, now) in zip(count(1), lines, strict=False) if then != now)
