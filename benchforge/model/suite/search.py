"""A search for the highest rate: what is sought, and what a trial of it gave."""

import math
from typing import Literal, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact

GAP = 0.06
"To this share a rate is known before trials are made around it."
ERRORS_BELOW = 0.001
"The share of requests that may end badly, where no objective says otherwise."

Relation = Literal["<", "<=", ">", ">="]


class Objective(Frozen):
    """What a server must keep to: a value of a metric below a bound, or above one."""

    text: str
    "As the suite writes it."
    metric: str
    "The label of the metric."
    of: str | None = None
    "Which part of it, such as p99; without it the whole, or its only part."
    relation: Relation
    "Between the value and the bound."
    bound: NonNegativeFloat
    "In the metric's unit."

    def keeps(self, value: float) -> bool:
        """Whether a value keeps to it."""
        match self.relation:
            case "<":
                return value < self.bound
            case "<=":
                return value <= self.bound
            case ">":
                return value > self.bound
            case ">=":
                return value >= self.bound


class RateSearch(Frozen):
    """A search of a scenario: each of its cases is one. Rates are in requests per second."""

    lowest: PositiveFloat
    "Below it nothing is tried."
    highest: PositiveFloat
    "Above it nothing is tried."
    steps: PositiveInt
    "Trials around the rate, once it is known to 6 %."
    first_rates: dict[str, PositiveFloat] = Field(default_factory=dict)
    "The rate that is tried first, by driver; other drivers begin with `lowest`."
    objectives: tuple[Objective, ...] = Field(min_length=1)
    "A trial passes where all are kept."
    errors_below: PositiveFloat | None = ERRORS_BELOW
    "The share of requests that may end badly; None where an objective is about errors."

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        firsts = self.first_rates.values()
        if not (self.lowest < self.highest and all(map(self.within, firsts))):
            msg = f"no rates from {exact(self.lowest)} to {exact(self.highest)}, first {[*firsts]}"
            raise ValueError(msg)
        return self

    @property
    def rounds(self) -> int:
        """How many trials a case takes at most: doublings, halvings of the gap, and the steps."""
        starts = (*self.first_rates.values(), self.lowest)
        doublings = max(
            math.ceil(_doublings(low, high))
            for start in starts
            for low, high in ((start, self.highest), (self.lowest, start))
        )
        return 1 + doublings + math.ceil(math.log2(math.log(2) / math.log1p(GAP))) + self.steps

    def within(self, rate: float) -> bool:
        """Whether a rate may be tried."""
        return self.lowest <= rate <= self.highest

    @property
    def asks(self) -> str:
        """What is asked of each trial, for a person."""
        texts = [objective.text for objective in self.objectives]
        if self.errors_below is not None:
            texts.append(errors(self.errors_below))
        return ", ".join(texts)

    @property
    def says(self) -> str:
        """What is looked for, and by how many trials, for a person."""
        return (
            f"looks for the highest rate from {exact(self.lowest)} to "
            f"{exact(self.highest)}/s that keeps "
            f"{self.asks}; at most {self.rounds} trials a case"
        )


def errors(below: float) -> str:
    """Return the objective about errors that no suite writes."""
    return f"errors < {exact(below * 100)}%"


def _doublings(low: float, high: float) -> float:
    return math.log2(high / low) - 1e-9  # a crumb less: floats may give a little more than 5


class ObjectiveOutcome(Frozen):
    """Whether one objective was kept in a trial."""

    objective: str
    "As it is told."
    value: float | None
    "What was measured, in `unit`; None where it is not known."
    unit: str
    "Of the value."
    kept: bool | None
    "None where it is not known."
    why: str = ""
    "Why it is not known."


class SearchOutcome(Frozen):
    """What a trial of a search gave: the server kept to everything, or not, or it tells nothing."""

    rate: PositiveFloat
    "Requests per second that it was asked for."
    passed: bool | None
    "None where it says nothing of the server: then it is no attempt of the search."
    why: str = ""
    "What was not kept, or why it says nothing; empty where it passed."
    outcomes: tuple[ObjectiveOutcome, ...] = ()
    "Of what was looked at: the rate that was kept, errors, and each objective."
    transient: bool = False
    "Whether it says nothing for a reason that comes and goes: another attempt may do better."


class SearchTrial(Frozen):
    """A trial that a search rests on."""

    trial: PositiveInt
    "Its number."
    round: PositiveInt
    "In which round, from 1: the trial's block."
    rate: PositiveFloat
    "Requests per second that were asked for."
    passed: bool
    "Whether everything was kept."
    why: str = ""
    "What was not."
    outcomes: tuple[ObjectiveOutcome, ...] = ()
    "As the trial has them."
