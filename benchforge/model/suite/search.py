"""A search for the highest rate: what is sought, and what a trial of it gave."""

import math
import operator
from typing import Literal, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact

GAP = 0.06
"To this share a rate is known before trials are made around it."
ERRORS_BELOW = 0.001
"The share of requests that may end badly, where no objective says otherwise."

Relation = Literal["<", "<=", ">", ">="]
_HOLDS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Objective(Frozen):
    """A bound that a metric of the server must keep."""

    text: str
    "Objective as the suite writes it."
    metric: str
    "Label of the metric."
    of: str | None = None
    "Part of the metric, such as p99; None for the whole, or for its only part."
    kind: str | None = None
    "Label of a kind of the scenario's mix; None for all kinds together."
    relation: Relation
    "Relation between the value and the bound."
    bound: NonNegativeFloat
    "Bound in the metric's unit."

    def keeps(self, value: float) -> bool:
        """Return True if a value keeps the objective."""
        return bool(_HOLDS[self.relation](value, self.bound))


class RateSearch(Frozen):
    """A search for a rate by each case of the scenario. Rates are in requests per second."""

    lowest: PositiveFloat
    "Lowest rate to try."
    highest: PositiveFloat
    "Highest rate to try."
    steps: PositiveInt
    "Number of trials around the rate, once it is known to within 6 %."
    first_rates: dict[str, PositiveFloat] = Field(default_factory=dict)
    "First rate to try, by driver; other drivers start with `lowest`."
    objectives: tuple[Objective, ...] = Field(min_length=1)
    "Objectives. A trial passes if it keeps all of them."
    errors_below: PositiveFloat | None = ERRORS_BELOW
    "Bound of the share of requests that fail; None if an objective is about errors."

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        firsts = self.first_rates.values()
        if not (self.lowest < self.highest and all(map(self.within, firsts))):
            msg = f"no rates from {exact(self.lowest)} to {exact(self.highest)}, first {[*firsts]}"
            raise ValueError(msg)
        return self

    @property
    def rounds(self) -> int:
        """Return the maximum number of trials of a case: doublings, halvings of the gap, steps."""
        starts = (*self.first_rates.values(), self.lowest)
        doublings = max(
            # A crumb less: floats may give a little more than 5.
            math.ceil(math.log2(high / low) - 1e-9)
            for start in starts
            for low, high in ((start, self.highest), (self.lowest, start))
        )
        return 1 + doublings + math.ceil(math.log2(math.log(2) / math.log1p(GAP))) + self.steps

    def within(self, rate: float) -> bool:
        """Return True if a rate may be tried."""
        return self.lowest <= rate <= self.highest

    @property
    def asks(self) -> str:
        """Description of the objectives of each trial."""
        texts = [objective.text for objective in self.objectives]
        if self.errors_below is not None:
            texts.append(errors(self.errors_below))
        return ", ".join(texts)

    @property
    def says(self) -> str:
        """Description of the search and of its number of trials."""
        rates = f"from {exact(self.lowest)} to {exact(self.highest)}/s"
        most = f"at most {self.rounds} trials a case"
        return f"looks for the highest rate {rates} that keeps {self.asks}; {most}"


def errors(below: float) -> str:
    """Return the objective about errors that no suite writes."""
    return f"errors < {exact(below * 100)}%"


class ObjectiveOutcome(Frozen):
    """Outcome of an objective in a trial."""

    objective: str
    "Objective in words."
    value: float | None
    "Measured value in `unit`; None if unknown."
    unit: str
    "Unit of the value."
    kept: bool | None
    "True if the trial kept the objective; None if unknown."
    why: str = ""
    "Reason why the outcome is unknown."

    @property
    def in_percent(self) -> bool:
        """True if the objective is in percent, so that its value, a share, is shown so, too."""
        return self.objective.endswith("%")


class SearchOutcome(Frozen):
    """Outcome of a trial in a search: passed, failed, or not counted."""

    rate: PositiveFloat
    "Target rate of the trial, in requests per second."
    passed: bool | None
    "True if the trial passed; None if it shows nothing about the server, and does not count."
    why: str = ""
    "Objective that was missed, or reason why the trial does not count; empty if it passed."
    outcomes: tuple[ObjectiveOutcome, ...] = ()
    "Outcomes of the achieved rate, the errors and each objective."
    transient: bool = False
    "True if the trial does not count for a passing reason: another attempt may count."

    @property
    def at_least(self) -> bool:
        """True if a disturbed trial kept every objective: the server keeps up with that rate."""
        return self.passed is None and bool(self.outcomes) and all(o.kept for o in self.outcomes)


class SearchTrial(Frozen):
    """A trial that counts in a search."""

    trial: PositiveInt
    "Number of the trial."
    round: PositiveInt
    "Round of the search, from 1: the trial's block."
    rate: PositiveFloat
    "Target rate of the trial, in requests per second."
    passed: bool
    "True if the trial kept every objective."
    why: str = ""
    "Objective that was missed."
    outcomes: tuple[ObjectiveOutcome, ...] = ()
    "Outcomes of the trial's objectives."
