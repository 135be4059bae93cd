"""The summary again, from the header and the trials; and the reports, from the summary."""

from collections.abc import Iterator

from benchforge.checks.summary import concluded
from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault
from benchforge.model.files.folder import SUMMARY
from benchforge.model.summary.summary import Summary
from benchforge.model.validity.faults import beside
from benchforge.results.reports import stale_reports
from benchforge.results.verify.summed_up import SummedUp, summed_up
from benchforge.results.verify.verified import RecomputedValue, plain
from benchforge.text.readable import exact
from benchforge_commands.verify.recompute.recomputed import Result


def summary(result: Result) -> Iterator[RecomputedValue]:
    """Everything in the summary."""
    if result.summary is None:
        why = f"no {SUMMARY}: the run did not end, or somebody removed it"
        yield RecomputedValue(result.header, cannot=why)
        return
    of, metrics = _summed_up(result, result.summary.model), result.suite.metrics
    if of.later:
        why = (
            f"it sums up {exact(len(of.trials))} of {exact(len(result.trials))} trials: the others "
            "are of a session that did not end; resume the run"
        )
        yield RecomputedValue(result.summary, (), cannot=why)
    try:
        again = concluded(result.header.model, of.trials, metrics, of.sessions, of.ceilings)
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        yield RecomputedValue(result.summary, (), cannot=f"{type(error).__name__}: {error}")
    else:
        yield RecomputedValue(result.summary, (), plain(again))


def _summed_up(result: Result, written: Summary) -> SummedUp:
    trials = [trial.model for trial in result.trials]
    ceilings = [one.model for one in result.ceilings]
    return summed_up(written, result.sessions, trials, ceilings)


def reports(result: Result) -> Iterator[RecomputedValue | FileFault]:
    """What people read."""
    if result.summary is None:
        return
    trials = _summed_up(result, result.summary.model).trials
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
        stale = list(stale_reports(result.summary.model, trials, result.registry, folder))
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        yield RecomputedValue(
            result.summary, (), cannot=f"reports: {type(error).__name__}: {error}"
        )
    else:
        yield from stale
