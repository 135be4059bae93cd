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
    with scratch_folder() as scratch:
        names = (*REPORTERS, *wanted_earlier(folder))
        for _, name in formed(summary, trials, registry, folder, names, scratch):
            stored_report = folder / name
            if not os.path.lexists(stored_report):
                continue
            try:
                if (line := _first(folder, scratch, name)) is not None:
                    yield FileFault(stored_report, "", line, "is not what the result gives")
            except OSError as error:
                yield FileFault(stored_report, "", None, error.strerror or str(error))


def _first(folder: Path, scratch: Path, name: str) -> int | None:
    """Return the number of the first line that is another; None if the files are the same."""
    line = 1
    stored_pieces, again = door.pieces(folder, name), door.pieces(scratch, name)
    for then, piece in zip_longest(stored_pieces, again, fillvalue=b""):
        if then != piece:
            pairs = zip(then, piece, strict=False)
            shorter = min(len(then), len(piece))
            alike = next(
                (index for index, (byte, other) in enumerate(pairs) if byte != other), shorter
            )
            return line + piece[:alike].count(b"\n")
        line += piece.count(b"\n")
    return None
