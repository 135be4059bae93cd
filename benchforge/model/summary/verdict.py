"""What is said of numbers: an estimate with its interval, and the reason where there is none."""

from typing import Literal, Self

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt, model_validator

from benchforge.model.trial.check import Check
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import counted

Method = Literal[
    "t of logs",
    "paired t of log-ratios",
    "Hodges-Lehmann",
    "prediction by t of logs",
    "Clopper-Pearson",
    "rule of three",
    "t of logs, highest of several",
    "posterior on a grid",
    "paired t of differences",
    "t of values",
]


class Estimate(Frozen):
    """A number that stands for many, and the interval that its truth lies in.

    Without a value, or without an interval, `why` says why; neither is ever NaN or infinite.
    """

    method: Method
    "How the interval was formed."
    level: float = Field(gt=0, lt=1)
    "How often such intervals hold the truth, as asked for."
    n: NonNegativeInt
    "How many independent values it rests on: blocks, or requests for a rate of errors."
    value: float | None = None
    "None where there is none."
    low: float | None = None
    "The lower end of the interval."
    high: float | None = None
    "The upper end of the interval."
    achieved_level: float | None = None
    "The exact level, for a method that has a few levels only."
    df: float | None = None
    "Degrees of freedom."
    sd: float | None = None
    "Of the logarithms, the differences or the values that it rests on."
    p: float | None = None
    """How often a ratio as far from 1 is seen where the truth is 1; two-sided. In a verdict: how
    often one as far from the nearest bound of the question, where the truth is that bound."""
    why: str = ""
    "Why there is no value or no interval."

    @model_validator(mode="after")
    def _whole_or_with_a_reason(self) -> Self:
        if (self.low is None) != (self.high is None):
            msg = "an interval has two ends"
            raise ValueError(msg)
        if self.low is None or self.high is None or self.value is None:
            if self.low is not None or not self.why:
                msg = (
                    "an estimate without a value has no interval, and says why; so does one without"
                )
                raise ValueError(msg)
        elif not self.low <= self.value <= self.high:
            msg = f"{self.value} is not between {self.low} and {self.high}"
            raise ValueError(msg)
        return self

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends; None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class Outlier(Frozen):
    """A value that lies far from its server's others. It is told, and never dropped."""

    at: NonNegativeInt
    "Which of the values, from 0."
    z: float
    "The modified z: how many robust deviations from the median of the logarithms."
    severity: Literal["mild", "severe"]
    "Mild above 3.5, severe above 5."


class Outliers(Frozen):
    """What was flagged among one server's values, or why nothing could be."""

    flagged: tuple[Outlier, ...] = ()
    "In the order of the values."
    why: str = ""
    "Why nothing can be said; empty when every value was looked at."


State = Literal["faster", "slower", "same", "inconclusive", "invalid"]


class RatioDecision(Frozen):
    """What the ratio of two servers decides."""

    state: State
    "Of the first against the second. Not finding a difference is inconclusive, never same."
    ratio: Estimate
    "First / second."
    robust: Estimate | None
    "Robust check of the ratio, which no outlier can move; None where it was not formed."
    p_adjusted: float | None
    "The p that decided, after Holm where there are several pairs."
    margin: float
    "Ratios from 1 / (1 + margin) to 1 + margin are the same to who asks."
    at_least: float | None = None
    "The end of the interval that is nearest to 1, where a difference was found."
    fragile: bool | None = None
    "Whether the robust interval decides otherwise; None where one of the two has none."
    detectable_ratio: float | None = None
    "The smallest ratio above 1 that this number of blocks finds four times in five."
    blocks_needed: int | None = None
    "About how many blocks would decide, where it is inconclusive; None where that is not known."


class StopDecision(Frozen):
    """Whether another block is needed, from the width of intervals alone."""

    blocks: NonNegativeInt = 0
    "Whole blocks that it rests on, counted from the first."
    stop: bool
    "Whether to stop."
    reached: bool = False
    "Whether it stops because every interval is as narrow as asked for."
    half_width: float | None
    "Of the widest interval, on the log scale; None without any."
    widest: str = ""
    "Whose interval that is: sides and metric."
    why: str
    "What decided."

    @property
    def in_words(self) -> str:
        """For a person: after how many blocks, why, and where it was not reached, by whom."""
        start = "stopped after" if self.stop else "not enough after"
        by = f" (widest: {self.widest})" if self.widest and not self.reached else ""
        return f"{start} {counted(self.blocks, 'block')}: {self.why}{by}"


class Change(Frozen):
    """A new result against what is known of older ones."""

    state: Literal["worse", "better", "not shown", "no model"]
    "`not shown` is no proof that nothing changed."
    change: Estimate
    "New / old; where there is no model it says why."
    least: float
    "Changes below it are not told."


class Objection(Frozen):
    """A check that speaks against a verdict, or a behaviour that one side alone had."""

    check: Check
    "As it was answered."
    side: Literal["a", "b", "both", ""]
    "Whose trials it was found in; empty for a comparison or the whole result."


class RejectedBlock(Frozen):
    """A block that a verdict does not rest on."""

    block: PositiveInt
    "Its number."
    why: str
    "Why not."


class Verdict(Frozen):
    """What the numbers say to one question of a claim."""

    claim: str
    "Its label."
    at: dict[str, JsonValue] = Field(default_factory=dict)
    "The axis and the value that it was asked for, where the claim is asked for each of several."
    state: Literal["holds", "fails", "inconclusive", "invalid"]
    "The answer. Inconclusive: more blocks may tell; invalid: the numbers are not to be believed."
    why: str = ""
    "Why it is inconclusive or invalid."
    unit: str
    "Of the estimate: 1 for a ratio."
    estimate: Estimate
    "What the question asks for: a ratio, a difference or a value."
    sides: tuple[Estimate, ...] = ()
    "Where shares of failed requests are compared: that of each side, by exact counts."
    robust: Estimate | None = None
    "Robust check of the estimate, which no outlier can move; None where it was not formed."
    fragile: bool | None = None
    "Whether the robust check decides otherwise; None where one of the two has no interval."
    p_adjusted: float | None = None
    "The estimate's p after Holm, in its family of questions."
    family_size: PositiveInt = 1
    "Number of questions in its family: those of one scenario and metric."
    detectable_ratio: float | None = None
    "The smallest ratio above 1 that this number of blocks finds four times in five."
    blocks_needed: PositiveInt | None = None
    "About how many blocks would decide, where it is inconclusive and that is known."
    blocks: tuple[PositiveInt, ...] = ()
    "The blocks that it rests on."
    a: tuple[float, ...] = ()
    "The first side's value in each of `blocks`."
    b: tuple[float, ...] = ()
    "The other's; empty where a alone is asked about."
    disturbed: tuple[PositiveInt, ...] = ()
    "Those of `blocks` in which others disturbed both sides."
    undisturbed: Estimate | None = None
    """The estimate as if others had left all CPUs to both sides: where they disturbed blocks, an
    answer is one that this gives, too."""
    rejected_blocks: tuple[RejectedBlock, ...] = ()
    "Blocks that it does not rest on."
    objections: tuple[Objection, ...] = ()
    "Checks that speak against it; failures first."
    limitations: tuple[str, ...] = ()
    "Limits of its validity: the load, machine and day that it is of."
    sentence: str
    "All of it, for a person."
