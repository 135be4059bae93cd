"""Everything that is wrong with a result: its files, and a summary that its trials do not give."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchforge.checks.summary import concluded
from benchforge.errors import BenchforgeError
from benchforge.model.files.file import MOST_BYTES, FileFault, Parsed, parse
from benchforge.model.files.folder import MANIFEST, SUMMARY
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.values.distribution import own_version
from benchforge.parts.registry import Registry
from benchforge.results.conclude import installed_metrics
from benchforge.results.recomputed.large_summary import compared_after, is_large
from benchforge.results.recomputed.manifest import changed_files
from benchforge.results.recomputed.summed_up import summed_up
from benchforge.results.recomputed.verified import RecomputedValue, Verified, compare_values, plain
from benchforge.results.validity.faults import FolderFiles, faults, read_files
from benchforge.text.readable import too_many


def result_faults(path: Path, registry: Registry, most_bytes: int = MOST_BYTES) -> list[FileFault]:
    """Return what is wrong with a result's folder, or with one of its files.

    The summary of a folder is computed again where nothing is wrong with the files that it sums up:
    the first value that differs is named, with the number of others. A summary of more than
    `most_bytes` is compared line by line.
    """
    if not path.is_dir():
        return _alone(path, most_bytes)
    large = is_large(path, most_bytes)
    files = read_files(path, with_summary=not large)
    summed: Iterable[FileFault] = ()
    if files.header is not None and not files.faults:
        if large:
            summed = _line_faults(path, files, files.header.model, registry)
        elif files.summary is not None:
            summed = _summary_faults(path, files, files.header.model, files.summary, registry)
    return [*files.faults, *summed, *_manifest_faults(path)]


def _alone(file: Path, most_bytes: int) -> list[FileFault]:
    """Return what is wrong with one file. A large summary is compared in its folder only."""
    if file.name == SUMMARY and file.is_file() and file.stat().st_size > most_bytes:
        message = f"{too_many(file.stat().st_size, most_bytes, 'bytes')} alone: validate its folder"
        return [FileFault(file, "", None, message, "unreadable")]
    return faults(file)


def _manifest_faults(folder: Path) -> Iterator[FileFault]:
    """Yield which files are not those of the manifest, where there is one."""
    if not os.path.lexists(folder / MANIFEST):
        return
    manifest = parse(folder, MANIFEST, Manifest)
    values = manifest if isinstance(manifest, list) else changed_files(manifest)
    yield from (value for value in values if isinstance(value, FileFault))


def _summary_faults(
    folder: Path,
    files: FolderFiles,
    header: Header,
    summary: Parsed[Summary],
    registry: Registry,
) -> Iterator[FileFault]:
    try:
        again = _again(folder, files, header, len(summary.model.sessions), registry)
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = error.message if isinstance(error, BenchforgeError) else type(error).__name__
        fault = summary.fault(f"cannot be computed again: {reason}")
        yield replace(fault, kind="unreadable")
        return
    verified = Verified(trials=0)
    value = RecomputedValue(summary, (), plain(again))
    ours = header.benchforge == own_version()
    compare_values(value, plain(summary.model), verified, ours=ours)
    yield from _first(verified.differing, header)


def _line_faults(
    folder: Path, files: FolderFiles, header: Header, registry: Registry
) -> Iterator[FileFault]:
    """Yield what differs in a large summary."""
    try:
        _, compared = compared_after(
            folder,
            len(files.sessions),
            lambda sessions: _again(folder, files, header, sessions, registry),
        )
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = error.message if isinstance(error, BenchforgeError) else type(error).__name__
        message = f"cannot be computed again: {reason}"
        yield FileFault(folder / SUMMARY, "", None, message, "unreadable")
    else:
        yield from _first(compared.differing, header)


def _first(differing: Sequence[FileFault], header: Header) -> Iterator[FileFault]:
    """Yield the first value that differs, with the number of others."""
    if differing:
        first, *others = differing
        more = f"; {len(others)} more differ: benchforge verify --all names them" if others else ""
        ours = header.benchforge == own_version()
        by = "" if ours else f"; benchforge {header.benchforge} wrote it, and may compute otherwise"
        yield replace(first, message=f"{first.message}{more}{by}")


def _again(
    folder: Path, files: FolderFiles, header: Header, session_count: int, registry: Registry
) -> Summary:
    """Return the summary of a result as it was after so many sessions.

    A run that is resumed and killed does not write the summary anew: trials of its session are
    there then, and the summary knows nothing of them.
    """
    trials = sorted((one.model for one in files.trials), key=lambda trial: trial.number)
    sessions = [one.model for one in files.sessions]
    of = summed_up(session_count, sessions, trials, [one.model for one in files.ceilings])
    metrics = installed_metrics(header, folder, registry)
    return concluded(header, of.trials, metrics, of.sessions, of.ceilings)
