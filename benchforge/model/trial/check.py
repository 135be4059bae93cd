"""A check of a trial, a comparison or a result, and its outcome."""

from collections.abc import Iterable
from typing import Literal, Self

from benchforge.model.values.frozen import Frozen

Status = Literal["pass", "warn", "fail", "unknown"]
Scope = Literal["trial", "comparison", "result"]
Subject = Literal["behaviour", "apparatus"]

Topic = Literal[
    "",
    "others",
    "waiting",
    "stall",
    "quiet",
    "lateness",
    "tail",
    "samples",
    "blocks",
    "placebo",
    "co-located",
    "alike",
    "answers",
    "failures",
    "under load",
]
"What rules outside benchforge/checks know of a check; limits.toml there explains each."
Numbers = Literal["all", "latency", "cost"]
"All, response times, or the server's CPU time per response."
Audience = Literal["invalid", "limits", "setup", "expert"]
"Of findings: a number cannot be used, limits what may be said, concerns the set-up, or experts."
_OF_ANSWERS: tuple[Topic, ...] = ("answers", "failures")
_OF_TIMES: tuple[Topic, ...] = ("samples", "tail", "lateness")
UNDER_LOAD: Topic = "under load"
NOISE: tuple[Topic, ...] = ("others", "waiting", "stall")
"What others do to the machine, and what comes of it."


class Check(Frozen):
    """Outcome of a check, with its value, threshold and source.

    With the subject behaviour, a failure is a finding about the server. With the subject apparatus,
    the trial cannot be believed.
    """

    id: str
    "Id of the check: a letter for its family and a number, such as L1."
    name: str = ""
    "Name of the check in a word or two, such as loader-cpu."
    scope: Scope
    "Scope of the check: one trial, a comparison, or the whole result."
    subject: Subject
    "Subject of a failure: the server's behaviour, or the apparatus."
    status: Status
    "Outcome of the check."
    value: float | None = None
    "Value that the check compares, if there is one."
    threshold: str = ""
    "Threshold that the value is compared with."
    source: str = ""
    "Source of the threshold."
    message: str
    "Finding in one sentence, with what to do."
    component: str = ""
    "Component of the trial or the result, such as a server's label; empty for all of it."
    invalidates: Numbers = "all"
    "Numbers that cannot be believed if the check fails."
    transient: bool = False
    "True if the cause comes and goes, so that another attempt may succeed."
    topic: Topic = ""
    "Subject of the check, if it decides how other numbers are read; empty for most checks."
    because: str = ""
    "Id of the check whose finding explains this one, where the check itself computes that."

    def about(
        self,
        component: str = "",
        scope: Scope = "trial",
        invalidates: Numbers = "all",
        because: str = "",
    ) -> Self:
        """Return the check as one about a component, or about more than a trial."""
        return self.like(component=component, scope=scope, invalidates=invalidates, because=because)

    @property
    def of_noise(self) -> bool:
        """True if it looks at what others do to the machine, or at what comes of it."""
        return self.topic in NOISE

    @property
    def of_work(self) -> bool:
        """True if it looks at whether the sides of a comparison did the same work."""
        return self.scope == "comparison" and self.topic in {"alike", *_OF_ANSWERS}

    @property
    def wrong_answers(self) -> bool:
        """True if it found that the server answered wrongly, or not at all, in a trial."""
        of_answers = self.topic in (*_OF_ANSWERS, UNDER_LOAD)
        return self.status == "fail" and self.scope == "trial" and of_answers

    @property
    def may_hide_wrong_answers(self) -> bool:
        """True if nothing is known of a case's answers while it was loaded."""
        return (self.status, self.scope, self.topic) == ("unknown", "comparison", UNDER_LOAD)

    @property
    def of_times(self) -> bool:
        """True if it concerns response times only, and no rate."""
        return self.invalidates == "latency" or self.topic in _OF_TIMES

    @property
    def of_lateness(self) -> bool:
        """True if it looks at how late the load tool was: that only makes times longer."""
        return self.topic == "lateness"


def passed(checks: Iterable[Check]) -> int:
    """Return how many questions have one answer only, wherever they were asked: pass."""
    answers = {(check.id, check.component, check.status) for check in checks}
    others = {answer[:2] for answer in answers if answer[2] != "pass"}
    return len({answer[:2] for answer in answers} - others)
