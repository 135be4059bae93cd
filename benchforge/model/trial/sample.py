"""One number that was measured, or the reason why it is not known."""

from typing import Self

from pydantic import NonNegativeInt, model_validator

from benchforge.model.values.frozen import Frozen


class Sample(Frozen):
    """A metric's value for one trial, with its unit; it cannot hold NaN.

    `value` is None where it could not be known, and then `why` says why. With `lower_bound`, the
    truth is the value or more (a percentile that lies among requests which were given up).
    """

    metric: str
    "The label of the metric in the suite."
    unit: str
    "Of the value."
    value: float | None
    "None where it is not known."
    of: str | None = None
    "What part of the metric: a role (server), a class of errors (status), a percentile."
    estimator: str | None = None
    "How a statistic was formed from many measurements."
    lower_bound: bool = False
    "Whether the truth is the value or more."
    why: str = ""
    "Why the value is not known."
    failed: NonNegativeInt | None = None
    "Of a rate or a number of failures: how many requests it rests on failed."
    requests: NonNegativeInt | None = None
    "Of how many; both are None where the sample is of something else."

    @model_validator(mode="after")
    def _unknown_has_a_reason(self) -> Self:
        if self.value is None and not self.why:
            msg = "a sample without a value says why"
            raise ValueError(msg)
        if (self.failed is None) != (self.requests is None) or (self.failed or 0) > (
            self.requests or 0
        ):
            msg = "failures are some of the requests"
            raise ValueError(msg)
        return self
