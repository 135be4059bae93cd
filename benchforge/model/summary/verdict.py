"""Estimates with intervals, and the verdicts that rest on them."""

from typing import Final, Literal, Self

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

CLOSE: Final = 1.1
"Servers whose ratio is surely below it are equal within that; of others nothing is decided."
ComparisonState = Literal["decided", "undecided", "not comparable", "broken"]


class Estimate(Frozen):
    """A number with its confidence interval.

    If either is missing, `why` gives the reason. Neither is ever NaN or infinite.
    """

    method: Method
    "Method of the interval."
    level: float = Field(gt=0, lt=1)
    "Confidence level that was requested, such as 0.95."
    n: NonNegativeInt
    "Number of independent values: blocks, or requests for a rate of errors."
    value: float | None = None
    "Estimated value; None if there is none."
    low: float | None = None
    "Lower end of the interval."
    high: float | None = None
    "Upper end of the interval."
    achieved_level: float | None = None
    "Exact level, for a method that has only a few levels."
    df: float | None = None
    "Degrees of freedom."
    sd: float | None = None
    "Standard deviation of the logarithms, differences or values behind the estimate."
    p: float | None = None
    "Two-sided p value: the true ratio is 1; in a verdict, the truth is the nearest bound."
    why: str = ""
    "Reason why there is no value or no interval."

    @model_validator(mode="after")
    def _whole_or_with_a_reason(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends")
        if self.low is None or self.high is None or self.value is None:
            if self.low is not None or not self.why:
                raise ValueError("no value means no interval, and either gap has a reason")
        elif not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} is not between {self.low} and {self.high}")
        return self

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def inverse(self) -> "Estimate":
        """The estimate of b / a, where this one is of a / b."""
        low, high = self.interval or (None, None)
        ends = {"value": self.value, "low": high, "high": low}
        inverses = {name: None if end is None else 1 / end for name, end in ends.items()}
        return self.model_copy(update=inverses)


class StopDecision(Frozen):
    """Decision whether the run needs another block, by the width of its intervals alone."""

    blocks: NonNegativeInt = 0
    "Number of complete blocks, counted from the first, behind the decision."
    stop: bool
    "True if the run stops."
    reached: bool = False
    "True if every interval reached its target, or every claim is decided at all looks together."
    half_width: float | None
    "Half-width of the widest interval, on the log scale; None without intervals."
    widest: str = ""
    "Sides and metric of the widest interval."
    why: str
    "Reason for the decision."

    @property
    def in_words(self) -> str:
        """Description: number of blocks, reason, and the interval that missed its target."""
        start = "stopped after" if self.stop else "not enough after"
        by = f" (widest: {self.widest})" if self.widest and not self.reached else ""
        return f"{start} {counted(self.blocks, 'block')}: {self.why}{by}"


class Change(Frozen):
    """Comparison of a new result with older ones."""

    state: Literal["worse", "better", "not shown", "no model"]
    "State of the change. `not shown` does not prove that nothing changed."
    change: Estimate
    "Ratio new / old; without a model, the reason why there is none."
    least: float
    "Smallest change to report."


class Objection(Frozen):
    """A check that speaks against a verdict, or a behaviour that only one side had."""

    check: Check
    "Outcome of the check."
    side: Literal["a", "b", "both", ""]
    "Side whose trials have the finding; empty for a comparison or the whole result."


class RejectedBlock(Frozen):
    """A block that a verdict does not rest on."""

    block: PositiveInt
    "Number of the block."
    why: str
    "Reason why the block does not count."


class Verdict(Frozen):
    """Answer to a question of a claim."""

    claim: str
    "Label of the claim."
    at: dict[str, JsonValue] = Field(default_factory=dict)
    "Axis and value of the question, for a claim with `each`."
    state: Literal["holds", "fails", "inconclusive", "invalid"]
    "Answer. Inconclusive: more blocks may decide. Invalid: the data cannot answer the claim."
    why: str = ""
    "Reason why the claim is inconclusive or invalid."
    unit: str
    "Unit of the estimate; 1 for a ratio."
    estimate: Estimate
    "Estimate of the question's quantity: a ratio, a difference or a value."
    sides: tuple[Estimate, ...] = ()
    "Exact estimate of each side, for a comparison of shares of failed requests."
    robust: Estimate | None = None
    "Robust check of the estimate, which no outlier can move; None if it was not formed."
    fragile: bool | None = None
    "True if the robust check decides otherwise; None if one of the two has no interval."
    p_adjusted: float | None = None
    "p value of the estimate, adjusted within its family of questions by the suite's correction."
    family_size: PositiveInt = 1
    "Number of questions in its family: those of the run, or those of one scenario and metric."
    detectable_ratio: float | None = None
    "Smallest ratio above 1 that this number of blocks shows four times in five."
    blocks_needed: PositiveInt | None = None
    "Approximate number of blocks that would decide an inconclusive claim, if known."
    blocks: tuple[PositiveInt, ...] = ()
    "Numbers of the blocks that the verdict rests on."
    a: tuple[float, ...] = ()
    "Value of the first side in each of `blocks`."
    b: tuple[float, ...] = ()
    "Value of the second side in each of `blocks`; empty for a claim about `a` alone."
    disturbed: tuple[PositiveInt, ...] = ()
    "Numbers of those `blocks` in which other processes disturbed both sides."
    undisturbed: Estimate | None = None
    "Estimate corrected for the CPU time of other processes. It must give the same answer."
    rejected_blocks: tuple[RejectedBlock, ...] = ()
    "Blocks that the verdict does not rest on."
    objections: tuple[Objection, ...] = ()
    "Checks that speak against the verdict, failures first."
    unlike: tuple[str, ...] = ()
    "Ids of the checks that say that the sides did not do the same work, or not as asked."
    limitations: tuple[str, ...] = ()
    "Limits of the verdict's validity: its load, machine and day."
    sentence: str
    "Whole verdict as a sentence."


class ComparisonVerdict(Frozen):
    """Verdict on a comparison. Screens, pages, exit codes and files all read it."""

    state: ComparisonState
    "Decided: the servers differ, or are equal within a bound. Broken: a server answered wrongly."
    reasons: tuple[str, ...] = ()
    "Reasons why the comparison is not decided, a phrase each; the first is the weightiest."
    pairs: tuple[tuple[str, str], ...] = ()
    "Pairs of servers that are shown to differ, the better one first; none unless comparable."
    ratio: bool = False
    "True if the ratios of the comparison may be quoted; of an undecided one, those of `pairs`."
    rates: bool = False
    "True if requests per second may be quoted."
    times: bool = False
    "True if response times may be quoted."
    cpu: bool = True
    "False if CPU time per response may not be quoted: a server works on after its load."
    sizes: dict[str, float] = Field(default_factory=dict)
    "Share by which a finding may move a ratio, at most, by the id of its check: where it is known."
    bias: str = ""
    "Bound of how far ratios in turns are from those alone, with its source; empty without turns."
    crowded: str = ""
    "Use of the CPUs by others, in words, if nobody may quote a ratio for it; else empty."

    @property
    def disturbed(self) -> str:
        """What other programs used of the CPUs, in words; empty if little, or if it is unknown."""
        return self.crowded if self.crowded.startswith("other programs") else ""
