"""One question about a trial, a comparison or a session, and its answer."""

from collections.abc import Iterable
from typing import Literal

from benchforge.model.frozen import Frozen

Status = Literal["pass", "warn", "fail", "unknown"]


class Check(Frozen):
    """An answer with its value, threshold and source; `says` is one sentence with what to do.

    About behaviour: the server did that, and it is a finding. About the apparatus: the trial is
    not to be believed.
    """

    id: str
    "Which check: a letter for its family and a number, such as L1."
    name: str = ""
    "In a word or two, such as loader-cpu."
    scope: Literal["trial", "comparison", "session"]
    "What it is about."
    about: Literal["behaviour", "apparatus"]
    "Whether a fault would be the server's or the apparatus's."
    status: Status
    "The answer."
    value: float | None = None
    "The number that was looked at, where there is one."
    threshold: str = ""
    "What it was compared with."
    source: str = ""
    "Where the threshold comes from."
    says: str
    "One sentence with what to do."
    of: str = ""
    "What of the trial or the result it is about, such as a server's label; empty for all of it."
    numbers: Literal["all", "latency"] = "all"
    "Which numbers are not to be believed where it fails."
    again: bool = False
    "Whether what it looks at comes and goes, so that another attempt may do better."


def passed(checks: Iterable[Check]) -> int:
    """Return how many questions have one answer only, wherever they were asked: pass."""
    asked: dict[tuple[str, str], set[str]] = {}
    for check in checks:
        asked.setdefault((check.id, check.of), set()).add(check.status)
    return sum(statuses == {"pass"} for statuses in asked.values())
