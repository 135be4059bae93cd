"""A measured number, or the reason why it is unknown."""

from typing import Self

from pydantic import NonNegativeInt, model_validator
from pydantic.dataclasses import dataclass

from benchforge.model.values.frozen import ROW


@dataclass(frozen=True, slots=True, kw_only=True, config=ROW)
class Sample:
    """A metric's value for one trial, with its unit; never NaN.

    If `value` is None, `why` gives the reason. With `lower_bound`, the truth is the value or more,
    as for a percentile among requests that the tool gave up.
    """

    metric: str
    "Label of the metric."
    unit: str
    "Unit of the value."
    value: float | None
    "Value of the metric; None if unknown."
    of: str | None = None
    "Part of the metric: a role (server), a class of errors (status), a percentile."
    estimator: str | None = None
    "Method by which a statistic was formed from many measurements."
    lower_bound: bool = False
    "True if the truth is the value or more."
    why: str = ""
    "Reason why the value is unknown."
    failed: NonNegativeInt | None = None
    "Number of failed requests behind a rate or number of failures."
    requests: NonNegativeInt | None = None
    "Number of all requests behind it. Both are None for any other metric."

    @model_validator(mode="after")
    def _unknown_has_a_reason(self) -> Self:
        if self.value is None and not self.why:
            raise ValueError("a sample without a value says why")
        failed, requests = self.failed, self.requests
        if (failed is None) != (requests is None) or (failed or 0) > (requests or 0):
            raise ValueError("failures are some of the requests")
        return self
