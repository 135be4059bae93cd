"""The reports beside a result that are not what the result gives."""

import os
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from benchforge.model.files.file import FileFault
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.results.report_files import REPORTERS, formed, wanted_earlier
from benchforge.run.disk.scratch import scratch_folder
from benchforge.text import door


def stale_reports(
    summary: Summary, trials: Sequence[Trial], registry: Registry, folder: Path
) -> Iterator[FileFault]:
    """Yield the reports in a folder that are not what its result gives; one may be missing."""
    with scratch_folder() as place:
        names = (*REPORTERS, *wanted_earlier(folder))
        for _, name in formed(summary, trials, registry, folder, names, place):
            there = folder / name
            if not os.path.lexists(there):
                continue
            try:
                if (line := _first(folder, place, name)) is not None:
                    yield FileFault(there, "", line, "is not what the result gives")
            except OSError as error:
                yield FileFault(there, "", None, error.strerror or str(error))


def _first(folder: Path, place: Path, name: str) -> int | None:
    """Return the number of the first line that is another; None if the files are the same."""
    line = 1
    there, again = door.pieces(folder, name), door.pieces(place, name)
    for then, now in zip_longest(there, again, fillvalue=b""):
        if then != now:
            both = zip(then, now, strict=False)
            shorter = min(len(then), len(now))
            alike = next((at for at, (one, other) in enumerate(both) if one != other), shorter)
            return line + now[:alike].count(b"\n")
        line += now.count(b"\n")
    return None
