"""The summary again, from the header and the trials; and the reports, from the summary."""

from collections.abc import Iterator

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault
from benchforge.model.files.folder import SUMMARY
from benchforge.model.validity.faults import beside
from benchforge.results.reports import stale_reports
from benchforge.results.verify.large_summary import ComparedLines, compared_lines
from benchforge.results.verify.verified import RecomputedValue, plain
from benchforge_commands.verify.recompute.recomputed import Result


def summary(result: Result) -> Iterator[RecomputedValue | ComparedLines]:
    """Everything in the summary."""
    if result.summary is None and not result.large:
        why = f"no {SUMMARY}: the run did not end, or somebody removed it"
        yield RecomputedValue(result.header, cannot=why)
        return
    try:
        again = result.concluded
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        why = f"{type(error).__name__}: {error}"
        yield RecomputedValue(result.summary or result.header, (), cannot=why)
        return
    if result.summary is None:
        yield compared_lines(result.header.file.parent, again)
    else:
        yield RecomputedValue(result.summary, (), plain(again))


def reports(result: Result) -> Iterator[RecomputedValue | FileFault]:
    """What people read."""
    if result.summary is None and not result.large:
        return
    trials = [trial.model for trial in result.trials]
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
        stale = list(stale_reports(shown, trials, result.registry, folder))
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        why = f"reports: {type(error).__name__}: {error}"
        yield RecomputedValue(result.summary or result.header, (), cannot=why)
    else:
        yield from stale
