"""Everything that is wrong with a result: its files, and a summary that its trials do not give."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchforge.checks.older_fields import completed, kept_trials
from benchforge.checks.summary import concluded
from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault, Parsed, parse
from benchforge.model.files.folder import SUMMARY, read_ceilings, read_header, read_sessions
from benchforge.model.summary.summary import Summary
from benchforge.model.validity.faults import faults
from benchforge.model.values.distribution import own_version
from benchforge.registry import Registry
from benchforge.results.conclude import installed_metrics
from benchforge.results.verify.compare import Verified, compare_values
from benchforge.results.verify.recomputed import RecomputedValue, plain


def result_faults(path: Path, registry: Registry) -> list[FileFault]:
    """Return what is wrong with a result's folder, or with one of its files.

    The summary of a folder is computed again where nothing is wrong with the files that it sums up:
    the first value that differs is named, with the number of others.
    """
    file_faults = faults(path)
    if file_faults or not path.is_dir() or not (path / SUMMARY).exists():
        return file_faults
    summary = parse(path, SUMMARY, Summary)
    if not isinstance(summary, Parsed):
        return summary
    return list(_summary_faults(path, summary, registry))


def _summary_faults(
    folder: Path, summary: Parsed[Summary], registry: Registry
) -> Iterator[FileFault]:
    header = read_header(folder)
    try:
        again = _again(folder, len(summary.model.sessions), registry)
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = error.message if isinstance(error, BenchforgeError) else type(error).__name__
        fault = summary.fault(f"cannot be computed again: {reason}")
        yield replace(fault, kind="unreadable")
        return
    verified = Verified(trials=0)
    value = RecomputedValue(summary, (), plain(again))
    ours = header.benchforge == own_version()
    compare_values(value, plain(completed(summary.model, registry)), verified, ours=ours)
    if verified.differing:
        first, *others = verified.differing
        more = f"; {len(others)} more differ: benchforge verify --all names them" if others else ""
        by = "" if ours else f"; benchforge {header.benchforge} wrote it, and may compute otherwise"
        yield replace(first, message=f"{first.message}{more}{by}")


def _again(folder: Path, session_count: int, registry: Registry) -> Summary:
    """Return the summary of a result as it was after so many later sessions.

    A run that is resumed and killed does not write the summary anew: trials of its session are
    there then, and the summary knows nothing of them.
    """
    header = read_header(folder)
    trials, sessions, ceilings = kept_trials(folder), read_sessions(folder), read_ceilings(folder)
    if session_count < len(sessions):
        following = sessions[session_count]
        trials = tuple(trial for trial in trials if trial.number < following.first_trial)
        ceilings = tuple(one for one in ceilings if one.trial.started < following.started)
    metrics = installed_metrics(header, folder, registry)
    return concluded(header, trials, metrics, sessions[:session_count], ceilings)
