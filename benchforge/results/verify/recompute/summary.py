"""The summary again, from the header and the trials; and the reports, from the summary."""

from collections.abc import Iterator

from benchforge.errors import BenchforgeError, InvalidFile
from benchforge.model.files.file import FileFault
from benchforge.model.files.folder import SUMMARY
from benchforge.results.recomputed.large_summary import ComparedLines
from benchforge.results.recomputed.verified import RecomputedValue, plain
from benchforge.results.validity.faults import beside
from benchforge.results.verify.recompute.recomputed import Result
from benchforge.results.verify.recompute.stale_reports import stale_reports
from benchforge.text.readable import exact


def summary(result: Result) -> Iterator[RecomputedValue | ComparedLines | FileFault]:
    """Everything in the summary."""
    if result.summary is None and not result.large:
        reason = f"no {SUMMARY}: the run did not end, or somebody removed it"
        yield RecomputedValue(result.header, cannot=reason)
        return
    try:
        yield from _compared(result)
    except InvalidFile as error:
        yield result.header.fault(error.message)
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = f"{type(error).__name__}: {error}"
        yield RecomputedValue(result.summary or result.header, (), cannot=reason)


def _compared(result: Result) -> Iterator[RecomputedValue | ComparedLines]:
    summed = result.summed_up
    if summed.later:
        reason = (
            f"it sums up {exact(len(summed.trials))} of {exact(len(result.trials))} trials: "
            "the others "
            "are of a session that did not end; resume the run"
        )
        if result.summary is None:
            yield RecomputedValue(result.header, cannot=f"{SUMMARY}: {reason}")
        else:
            yield RecomputedValue(result.summary, (), cannot=reason)
    if result.summary is None:
        yield result.lines[1]
    else:
        yield RecomputedValue(result.summary, (), plain(result.concluded))


def reports(result: Result) -> Iterator[RecomputedValue | FileFault]:
    """What people read."""
    if result.summary is None and not result.large:
        return
    folder = result.header.file.parent
    for trial in result.trials:
        for process in trial.model.processes:
            for name in (process.stdout, process.stderr):
                if not beside(trial.file, name):
                    yield RecomputedValue(
                        trial, ("processes",), cannot=f"no {name} beside the trial"
                    )
                    return
    try:
        summary = result.concluded if result.summary is None else result.summary.model
        stale = list(stale_reports(summary, result.summed_up.trials, result.registry, folder))
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        reason = f"reports: {type(error).__name__}: {error}"
        yield RecomputedValue(result.summary or result.header, (), cannot=reason)
    else:
        yield from stale
