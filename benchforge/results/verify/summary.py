"""The summary again, from the header and the trials; and the reports, from the summary."""

from collections.abc import Iterator

from benchforge.checks.summary import concluded
from benchforge.errors import BenchforgeError
from benchforge.model.faults import beside
from benchforge.model.file import Fault
from benchforge.run.reports import stale_reports
from benchforge.run.verify.again import Again, Result, plain


def summary(result: Result) -> Iterator[Again]:
    """Everything in the summary."""
    if result.summary is None:
        return
    header = result.header.model
    trials = [trial.model for trial in result.trials]
    ceilings = [one.model for one in result.ceilings]
    try:
        again = concluded(header, trials, result.suite.metrics, result.sittings, ceilings)
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        yield Again(result.summary, (), cannot=f"{type(error).__name__}: {error}")
    else:
        yield Again(result.summary, (), plain(again))


def reports(result: Result) -> Iterator[Again | Fault]:
    """What people read; another version may lay it out differently."""
    if result.summary is None or not result.ours:
        return
    trials = [trial.model for trial in result.trials]
    folder = result.header.file.parent
    for trial in result.trials:
        for process in trial.model.processes:
            for name in (process.stdout, process.stderr):
                if not beside(trial.file, name):
                    yield Again(trial, ("processes",), cannot=f"no {name} beside the trial")
                    return
    try:
        found = list(stale_reports(result.summary.model, trials, result.registry, folder))
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        yield Again(result.summary, (), cannot=f"reports: {type(error).__name__}: {error}")
    else:
        yield from found
