"""How much is measured, for a person: a number, or from the fewest to the most."""

from benchforge.model.suite.until import Until
from benchforge.text.readable import counted, exact, spoken


def amount(cases: int, blocks: int, trials: int, until: Until | None) -> str:
    """Return how many cases, blocks and trials; `blocks` are all of them, or the most."""
    if until is None:
        most = "" if trials == cases * blocks else "at most "
        return f"{counted(cases, 'case')}, {most}{counted(blocks, 'block')}: " + counted(
            trials, "trial"
        )
    return (
        f"{counted(cases, 'case')}, {_between(until.least, blocks)} blocks: "
        f"{_between(cases * until.least, cases * blocks)} trials"
    )


def awaited(until: Until) -> str:
    """Return what ends a run whose number of blocks is not given."""
    return f"blocks are added until no interval of 95 % is wider than {until.in_words} to a side"


def lasts(fewest_s: float, most_s: float) -> str:
    """Return how long it takes, where it may end early from the fewest blocks to the most."""
    durations = dict.fromkeys(map(spoken, (fewest_s, most_s)))
    return f"about {' to '.join(durations)}"


def _between(fewest: int, most: int) -> str:
    return exact(most) if fewest == most else f"{exact(fewest)} to {exact(most)}"
