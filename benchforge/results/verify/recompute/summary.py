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
        why = f"no {SUMMARY}: the run did not end, or somebody removed it"
        yield RecomputedValue(result.header, cannot=why)
        return
    try:
        yield from _compared(result)
    except InvalidFile as error:
        yield result.header.fault(error.message)
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        why = f"{type(error).__name__}: {error}"
        yield RecomputedValue(result.summary or result.header, (), cannot=why)


def _compared(result: Result) -> Iterator[RecomputedValue | ComparedLines]:
    of = result.summed_up
    if of.later:
        why = (
            f"it sums up {exact(len(of.trials))} of {exact(len(result.trials))} trials: the others "
            "are of a session that did not end; resume the run"
        )
        if result.summary is None:
            yield RecomputedValue(result.header, cannot=f"{SUMMARY}: {why}")
        else:
            yield RecomputedValue(result.summary, (), cannot=why)
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
        shown = result.concluded if result.summary is None else result.summary.model
        stale = list(stale_reports(shown, result.summed_up.trials, result.registry, folder))
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        why = f"reports: {type(error).__name__}: {error}"
        yield RecomputedValue(result.summary or result.header, (), cannot=why)
    else:
        yield from stale
