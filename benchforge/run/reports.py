"""The files that show a result: written beside it, and compared with it later."""

import os
from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.model.file import Fault
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.parts.part import Reporter
from benchforge.registry import Registry
from benchforge.run.keep import whole
from benchforge.run.scratch import scratch_folder

REPORTERS = ("markdown", "html", "csv")
"Every run writes what these make."
ON_DEMAND = ("action-benchmark", "github", "json", "junit")
"Ours that write where somebody asks for them."
_TRIALS = "trials"


def reporter(registry: Registry, name: str) -> Reporter:
    """Return a reporter without options. Raises Unusable where there is none of that name."""
    part = registry.part("reporter", name)()
    assert isinstance(part, Reporter)  # noqa: S101 - the kind says so
    return part


def write_reports(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    folder: Path,
    names: Sequence[str] = REPORTERS,
    into: Path | None = None,
    *,
    appends: bool = True,
) -> list[Path]:
    """Write reports of a result's folder into it, or into another one.

    Each is formed elsewhere first: whenever we end, a file is there whole, or as it was before.
    What a reporter wants appended elsewhere is, where the environment names the file and it
    `appends`.

    Raises OSError where a file cannot be written, and Unusable where a reporter breaks.
    """
    written: list[Path] = []
    with scratch_folder() as place:
        for by, made in _formed(summary, trials, registry, folder, names, place):
            there = (into or folder) / made.relative_to(place)
            there.parent.mkdir(parents=True, exist_ok=True)
            whole(there, made.read_bytes())
            written.append(there)
            elsewhere = os.environ.get(by.appended_to) if by.appended_to and appends else None
            if elsewhere:
                with Path(elsewhere).open("ab") as end:
                    end.write(made.read_bytes())
                written.append(Path(elsewhere))
    return written


def renew_reports(
    summary: Summary, trials: Sequence[Trial], registry: Registry, folder: Path
) -> list[Path]:
    """Write those anew that somebody asked for earlier: they may tell of fewer trials.

    Raises as `write_reports` does.
    """
    written: list[Path] = []
    with scratch_folder() as place:
        for _, made in _formed(summary, trials, registry, folder, ON_DEMAND, place):
            there = folder / made.relative_to(place)
            if there.is_file() and there.read_bytes() != made.read_bytes():
                whole(there, made.read_bytes())
                written.append(there)
    return written


def stale_reports(
    summary: Summary, trials: Sequence[Trial], registry: Registry, folder: Path
) -> Iterator[Fault]:
    """Yield the reports in a folder that are not what its result gives; one may be missing."""
    with scratch_folder() as place:
        names = (*REPORTERS, *ON_DEMAND)
        for _, again in _formed(summary, trials, registry, folder, names, place):
            there = folder / again.relative_to(place)
            if there.is_file() and there.read_bytes() != again.read_bytes():
                yield Fault(there, "", _first(there, again), "is not what the result gives")


def _formed(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    folder: Path,
    names: Sequence[str],
    place: Path,
) -> Iterator[tuple[Reporter, Path]]:
    """Form reports in an empty folder, which then also has the trials; yield each file."""
    (place / _TRIALS).symlink_to((folder / _TRIALS).resolve())
    for name in names:
        one = reporter(registry, name)
        try:
            made = [file.relative_to(place) for file in one.report(summary, trials, place)]
        except OSError:
            raise
        except Exception as error:
            message = f"reporter {name}: {type(error).__name__}: {error}"
            raise Unusable(message, "its author can mend it; all else is written") from error
        yield from ((one, place / file) for file in made)


def _first(one: Path, other: Path) -> int:
    """Return the number of the first line that is another."""
    lines = zip_longest(*(file.read_bytes().split(b"\n") for file in (one, other)))
    return next(number for number, (then, now) in zip(count(1), lines, strict=False) if then != now)
