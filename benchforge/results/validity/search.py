"""What a trial of a search must be to the search."""

from collections.abc import Iterator

from benchforge.model.suite.search import RateSearch
from benchforge.model.trial.trial import Trial
from benchforge.results.validity.contradiction import Contradiction
from benchforge.text.readable import exact


def searched(find: RateSearch, trial: Trial, *, smoke: bool) -> Iterator[Contradiction]:
    """Say what of a trial's part in its search cannot be; paths begin below `sought`."""
    sought = trial.search_outcome
    if sought is None:
        return
    if trial.load is None or trial.load.rate != sought.rate:
        yield "is another than the rate of its load", ("rate",)
    if not find.within(sought.rate):
        bounds = f"{exact(find.lowest)} to {exact(find.highest)}/s"
        yield f"{exact(sought.rate)}/s is not from {bounds}", ("rate",)
    outcomes_kept = [outcome.kept for outcome in sought.outcomes]
    if outcomes_kept and sought.passed is not (
        None if None in outcomes_kept and False not in outcomes_kept else all(outcomes_kept)
    ):
        yield "is not what its outcomes give", ("passed",)
    if sought.passed is not None and trial.measured and not trial.believed and not smoke:
        yield "a trial that is not believed says nothing", ("passed",)
