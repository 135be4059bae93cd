"""The summary again, from the header and the trials; and the reports, from the summary."""

from collections.abc import Iterator

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault
from benchforge.model.files.folder import SUMMARY
from benchforge.model.validity.faults import beside
from benchforge.results.reports import stale_reports
from benchforge.text.readable import exact
from benchforge_commands.recomputed.large_summary import ComparedLines, compared_lines
from benchforge_commands.recomputed.verified import RecomputedValue, plain
from benchforge_commands.verify.recompute.recomputed import Result


def summary(result: Result) -> Iterator[RecomputedValue | ComparedLines]:
    """Everything in the summary."""
    if result.summary is None and not result.large:
        why = f"no {SUMMARY}: the run did not end, or somebody removed it"
        yield RecomputedValue(result.header, cannot=why)
        return
    of = result.summed_up
    if result.summary is not None and of.later:
        why = (
            f"it sums up {exact(len(of.trials))} of {exact(len(result.trials))} trials: the others "
            "are of a session that did not end; resume the run"
        )
        yield RecomputedValue(result.summary, (), cannot=why)
    try:
        if result.summary is None:
            yield _lines(result)
        else:
            yield RecomputedValue(result.summary, (), plain(result.concluded))
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        why = f"{type(error).__name__}: {error}"
        yield RecomputedValue(result.summary or result.header, (), cannot=why)


def _lines(result: Result) -> ComparedLines:
    """Compare a large summary, which does not say how many sessions it knows of."""
    folder = result.header.file.parent
    compared = compared_lines(folder, result.concluded)
    for sessions in range(len(result.sessions) - 1, 0, -1):
        if not compared.differing:
            break
        earlier = compared_lines(folder, result.concluded_after(sessions))
        compared = compared if earlier.differing else earlier
    return compared


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
