"""A claim of a suite, resolved to the cases that it is about."""

from typing import Literal, Self

from pydantic import Field, JsonValue, PositiveFloat, model_validator

from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import Frozen

Relation = Literal[">", "<", ">=", "<=", "=="]


class Hypothesis(Frozen):
    """A claim's statement: `a > b`, `a >= 2 * b`, `a == b +- 3%`, `a - b < 2ms`, `a < 25ms`."""

    text: str
    "As the suite writes it."
    form: Literal["ratio", "difference", "value"]
    "What is estimated: a / b, a - b, or a alone."
    relation: Relation
    "Between what is estimated and the bound; `==` is within the tolerance of it."
    bound: float
    "A factor for a ratio, else a number in the metric's unit."
    tolerance: PositiveFloat | None = None
    "Of `==` alone: a share of the bound for a ratio, else a number in the metric's unit."

    @model_validator(mode="after")
    def _equal_within_something(self) -> Self:
        if (self.tolerance is None) == (self.relation == "=="):
            msg = "what is equal is so within a tolerance, and nothing else has one"
            raise ValueError(msg)
        return self


class Term(Frozen):
    """A side of a claim: a case, or what it has more than another."""

    case: CaseName
    "Whose values they are."
    minus: CaseName | None = None
    "Whose values are subtracted, block by block."

    @property
    def cases(self) -> tuple[CaseName, ...]:
        """One, or both."""
        return (self.case,) if self.minus is None else (self.case, self.minus)


class ClaimInstance(Frozen):
    """One question of a claim."""

    at: dict[str, JsonValue] = Field(default_factory=dict)
    "The axis and the value that it is asked for, where the claim is asked for each of several."
    a: Term
    "The first side."
    b: Term | None = None
    "The other; None where a alone is asked about."

    @property
    def cases(self) -> tuple[CaseName, ...]:
        """All that it is about."""
        return self.a.cases + (self.b.cases if self.b is not None else ())


class Claim(Frozen):
    """A table [claims.x], every name in it resolved."""

    label: str
    "Its name in the suite."
    says: str = ""
    "For people."
    metric: str
    "The label of what is compared."
    of: str | None = None
    "What part of the metric, where it has several; None for the whole."
    hypothesis: Hypothesis
    "The statement that is tested."
    margin: PositiveFloat = 0.03
    "Ratios from 1 / (1 + margin) to 1 + margin are the same to who asks."
    published: float | None = None
    "What a source says of it: a ratio, or a number in the metric's unit."
    original: str = ""
    "What was wrong with the source's own measurement."
    instances: tuple[ClaimInstance, ...] = Field(min_length=1)
    "The claim's questions: one, or one for each value of an axis."

    @property
    def cases(self) -> tuple[CaseName, ...]:
        """All that it is about, of each question."""
        return tuple(case for instance in self.instances for case in instance.cases)
