"""One question about a trial, a comparison or a result, and its answer."""

from collections.abc import Iterable
from typing import Literal

from benchforge.model.values.frozen import Frozen

Status = Literal["pass", "warn", "fail", "unknown"]

Topic = Literal[
    "", "others", "waiting", "stall", "quiet", "lateness", "tail", "blocks", "placebo", "co-located"
]
"What rules outside benchforge/checks know of a check; limits.toml there explains each."
NOISE: tuple[Topic, ...] = ("others", "waiting", "stall")
"What others do to the machine, and what comes of it."


class Check(Frozen):
    """An answer with its value, threshold and source; `message` is one sentence with what to do.

    Subject behaviour: the server did that, and it is a finding. Subject apparatus: the trial is not
    to be believed.
    """

    id: str
    "Which check: a letter for its family and a number, such as L1."
    name: str = ""
    "In a word or two, such as loader-cpu."
    scope: Literal["trial", "comparison", "result"]
    "What the check looks at: one trial, a comparison, or the whole result."
    subject: Literal["behaviour", "apparatus"]
    "What a failure is of: the server's behaviour, or the apparatus."
    status: Status
    "The answer."
    value: float | None = None
    "The number that was looked at, where there is one."
    threshold: str = ""
    "What it was compared with."
    source: str = ""
    "Where the threshold comes from."
    message: str
    "One sentence with what to do."
    component: str = ""
    "Component of the trial or the result, such as a server's label; empty for all of it."
    invalidates: Literal["all", "latency"] = "all"
    "Numbers that are not to be believed where it fails."
    transient: bool = False
    "Whether what it looks at comes and goes, so that another attempt may do better."
    topic: Topic = ""
    "What it looks at, where that decides how other numbers are read; empty for most checks."

    @property
    def of_noise(self) -> bool:
        """Whether it looks at what others do to the machine, or at what comes of it."""
        return self.topic in NOISE


def passed(checks: Iterable[Check]) -> int:
    """Return how many questions have one answer only, wherever they were asked: pass."""
    by_question: dict[tuple[str, str], set[str]] = {}
    for check in checks:
        by_question.setdefault((check.id, check.component), set()).add(check.status)
    return sum(statuses == {"pass"} for statuses in by_question.values())
