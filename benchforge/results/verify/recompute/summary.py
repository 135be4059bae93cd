"""The summary again, from the header and the trials; and the reports, from the summary."""

import os
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from benchforge.errors import BenchforgeError, InvalidFile
from benchforge.model.files.file import FileFault
from benchforge.model.files.folder import SUMMARY
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.results.recomputed.large_summary import ComparedLines
from benchforge.results.recomputed.verified import Recomputed, Values, plain
from benchforge.results.report_files import REPORTERS, formed, wanted_earlier
from benchforge.results.verify.recompute.recomputed import Result
from benchforge.run.disk.scratch import scratch_folder
from benchforge.text import door
from benchforge.text.readable import exact


def summary(result: Result) -> Iterator[Recomputed | ComparedLines | FileFault]:
    """Everything in the summary."""
    if result.summary is None and not result.large:
        reason = f"no {SUMMARY}: the run did not end, or somebody removed it"
        yield result.again(cannot=reason)
        return
    try:
        yield from _compared(result)
    except InvalidFile as error:
        yield result.header.fault(error.message)
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = f"{type(error).__name__}: {error}"
        yield Recomputed(result.summary or result.header, (), cannot=reason)


def _compared(result: Result) -> Iterator[Recomputed | ComparedLines]:
    summed = result.summed_up
    if summed.later:
        sums = f"it sums up {exact(len(summed.trials))} of {exact(len(result.trials))} trials"
        reason = f"{sums}: the others are of a session that did not end; resume the run"
        if result.summary is None:
            yield result.again(cannot=f"{SUMMARY}: {reason}")
        else:
            yield Recomputed(result.summary, (), cannot=reason)
    if result.summary is None:
        yield result.lines[1]
    else:
        yield Recomputed(result.summary, (), plain(result.concluded))


def reports(result: Result) -> Values:
    """What people read."""
    if result.summary is None and not result.large:
        return
    folder = result.header.file.parent
    for trial in result.trials:
        for process in trial.model.processes:
            for name in (process.stdout, process.stderr):
                if not door.holds(trial.file.parent, name):
                    yield Recomputed(trial, ("processes",), cannot=f"no {name} beside the trial")
                    return
    try:
        summary = result.concluded if result.summary is None else result.summary.model
        stale = list(stale_reports(summary, result.summed_up.trials, result.registry, folder))
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = f"reports: {type(error).__name__}: {error}"
        yield Recomputed(result.summary or result.header, (), cannot=reason)
    else:
        yield from stale


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
            alike = next((nth for nth, (byte, other) in enumerate(pairs) if byte != other), shorter)
            return line + piece[:alike].count(b"\n")
        line += piece.count(b"\n")
    return None
