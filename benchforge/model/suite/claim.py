"""A claim of a suite, resolved to the cases that it is about."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, PositiveFloat, model_validator

from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import Frozen

Relation = Literal[">", "<", ">=", "<=", "=="]


class Hypothesis(Frozen):
    """A claim's statement: `a > b`, `a >= 2 * b`, `a == b +- 3%`, `a - b < 2ms`, `a < 25ms`."""

    text: str
    "Statement as the suite writes it."
    form: Literal["ratio", "difference", "value"]
    "Quantity to estimate: a / b, a - b, or a alone."
    relation: Relation
    "Relation between the estimate and the bound; `==` means within the tolerance."
    bound: float
    "Bound: a factor for a ratio, otherwise a number in the metric's unit."
    tolerance: PositiveFloat | None = None
    "Tolerance of `==`: a share of the bound for a ratio, otherwise in the metric's unit."

    @model_validator(mode="after")
    def _equal_within_something(self) -> Self:
        if (self.tolerance is None) == (self.relation == "=="):
            raise ValueError("== has a tolerance, and no other relation has one")
        return self


class Term(Frozen):
    """A side of a claim: a case, or the difference between two cases."""

    case: CaseName
    "Case that the values are from."
    minus: CaseName | None = None
    "Case whose values are subtracted, block by block."

    @property
    def cases(self) -> tuple[CaseName, ...]:
        """The case, or both cases."""
        return (self.case,) if self.minus is None else (self.case, self.minus)


class ClaimInstance(Frozen):
    """A question of a claim."""

    at: dict[str, JsonValue] = Field(default_factory=dict)
    "Axis and value of the question, for a claim with `each`."
    a: Term
    "First side."
    b: Term | None = None
    "Second side; None for a claim about `a` alone."

    @property
    def cases(self) -> tuple[CaseName, ...]:
        """All cases of the question."""
        return self.a.cases + (self.b.cases if self.b is not None else ())


class Claim(Frozen):
    """A table [claims.x], with every name resolved."""

    label: str
    "Label of the claim."
    says: str = ""
    "Claim in words, for the report."
    metric: str
    "Label of the metric to compare."
    of: str | None = None
    "Part of the metric, such as p99; None for the whole."
    hypothesis: Hypothesis
    "Statement that is tested."
    margin: PositiveFloat = 0.03
    "Relative margin of equality: ratios from 1 / (1 + margin) to 1 + margin count as equal."
    published: float | None = None
    "Value that a source publishes: a ratio, or a number in the metric's unit."
    original: str = ""
    "Error in the source's own measurement."
    instances: tuple[ClaimInstance, ...] = Field(min_length=1)
    "Questions of the claim: a single question, or a question for each value of an axis."

    @property
    def cases(self) -> tuple[CaseName, ...]:
        """All cases of all questions."""
        return tuple(case for instance in self.instances for case in instance.cases)

    def instance(self, axes: Mapping[str, JsonValue]) -> ClaimInstance | None:
        """Return the question at a value of an axis; None if the claim does not have it."""
        return next((instance for instance in self.instances if instance.at == axes), None)


class VerdictRules(Frozen):
    """The table [verdicts]: how verdicts allow for the number of questions."""

    family: Literal["run", "scenario"] = "run"
    "Questions that are judged together: all of the run, or those of each scenario and metric."
    correction: Literal["benjamini-hochberg", "holm"] = "benjamini-hochberg"
    """Error that is held at 5 %: with `benjamini-hochberg` the expected share of false verdicts \
among those that answer, with `holm` the probability of any false difference."""


class Waiver(Frozen):
    """An element of `gate.allow`: a scenario that may be slower."""

    scenario: str
    "Label of the scenario."
    server: str | None = None
    "Label of the server. Default: all servers of the scenario."
    reason: str = Field(min_length=1)
    "Reason, which the output of `benchforge gate` shows."
    until: date | None = None
    "Last day of the waiver, such as 2027-01-31. Default: no end."


class Gate(Frozen):
    """The table [gate]."""

    allow: tuple[Waiver, ...] = ()
    "Waivers: scenarios that may be slower, each with a reason. Only `benchforge gate` reads them."
    irrelevant: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Paths that no server depends on, from the top of the repository, such as `"docs/**"`. \
`benchforge gate` measures nothing if all changed files are among them; the suite is never."""
