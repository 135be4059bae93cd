"""Everything that is wrong with a result: its files, and a summary that its trials do not give."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchforge.checks.summary import concluded
from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault, Parsed, parse
from benchforge.model.files.folder import MANIFEST
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.validity.faults import FolderFiles, faults, read_files
from benchforge.model.values.distribution import own_version
from benchforge.registry import Registry
from benchforge.results.conclude import installed_metrics
from benchforge.results.verify.manifest import changed_files
from benchforge.results.verify.summed_up import summed_up
from benchforge.results.verify.verified import RecomputedValue, Verified, compare_values, plain


def result_faults(path: Path, registry: Registry) -> list[FileFault]:
    """Return what is wrong with a result's folder, or with one of its files.

    The summary of a folder is computed again where nothing is wrong with the files that it sums up:
    the first value that differs is named, with the number of others.
    """
    if not path.is_dir():
        return faults(path)
    files = read_files(path)
    if files.faults or files.header is None or files.summary is None:
        return [*files.faults, *_manifest_faults(path)]
    summed = _summary_faults(path, files, files.header.model, files.summary, registry)
    return [*summed, *_manifest_faults(path)]


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
        again = _again(folder, files, header, summary.model, registry)
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = error.message if isinstance(error, BenchforgeError) else type(error).__name__
        fault = summary.fault(f"cannot be computed again: {reason}")
        yield replace(fault, kind="unreadable")
        return
    verified = Verified(trials=0)
    value = RecomputedValue(summary, (), plain(again))
    ours = header.benchforge == own_version()
    compare_values(value, plain(summary.model), verified, ours=ours)
    if verified.differing:
        first, *others = verified.differing
        more = f"; {len(others)} more differ: benchforge verify --all names them" if others else ""
        by = "" if ours else f"; benchforge {header.benchforge} wrote it, and may compute otherwise"
        yield replace(first, message=f"{first.message}{more}{by}")


def _again(
    folder: Path, files: FolderFiles, header: Header, summary: Summary, registry: Registry
) -> Summary:
    """Return the summary of a result as it was when it was written.

    A run that is resumed and killed does not write the summary anew: trials of its session are
    there then, and the summary knows nothing of them.
    """
    trials = sorted((one.model for one in files.trials), key=lambda trial: trial.number)
    sessions = [one.model for one in files.sessions]
    of = summed_up(summary, sessions, trials, [one.model for one in files.ceilings])
    metrics = installed_metrics(header, folder, registry)
    return concluded(header, of.trials, metrics, of.sessions, of.ceilings)
