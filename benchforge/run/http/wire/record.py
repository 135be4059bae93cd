"""The record of a load's windows beside its trial, and its numbers."""

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from benchforge.model.trial.answers.monitor import LoadAnswers, MonitorAnswer, Windows
from benchforge.model.values.frozen import Frozen
from benchforge.run.http.monitor import commonest

RECORD, MOST_RECORD = "load-answers.json", 16 << 20
"The record beside a trial, and its length in bytes at most."
WRONG_BODY = "wrong-answer-{}"
"Name of a wrong body beside a trial; the numbers begin with 1."


class WireWindow(Frozen):
    """A window: the time for which a packet socket was open, and its judged answers."""

    place: Literal["load", "around"]
    "Measured load, or a load that does not count."
    start_s: float
    "Time from the start of the measured load to the window, in seconds; negative before it."
    open_s: NonNegativeFloat
    "Time for which the packet socket was open, in seconds."
    answers: tuple[tuple[NonNegativeInt, NonNegativeFloat], ...] = ()
    "Index of each answer in the record's `answers`, and seconds from the request to its end."
    cut: dict[str, NonNegativeInt] = Field(default_factory=dict)
    'Number of requests without a complete answer, by the label of the kind; "" without a mix.'
    lost_packets: NonNegativeInt = 0
    "Number of packets that the kernel dropped."


class WireRecord(Frozen):
    """All windows of a trial, and the distinct answers in them, as they were judged."""

    answers: tuple[MonitorAnswer, ...] = ()
    "Distinct answers; the number of each is that in the windows, and 0 here."
    windows: tuple[WireWindow, ...] = ()
    "Windows in the order of time."
    cpu_s: NonNegativeFloat = 0.0
    "CPU time that the windows took during the load, in seconds."
    behind: str = ""
    "Encryption of the load, such as nginx's TLS, if the upstream server's answers are read."
    why: str = ""
    "Reason why there are no windows; empty if there are some."


def record_of(text: bytes) -> WireRecord:
    """Read a record. Raises ValueError where it is not whole."""
    record = WireRecord.model_validate_json(text)
    if any(number >= len(record.answers) for span in record.windows for number, _ in span.answers):
        raise ValueError("it names an answer that it does not have")
    return record


def tallied(record: WireRecord) -> LoadAnswers:
    """Return a record in numbers; a window is wrong if one of its answers is."""
    load = [window for window in record.windows if window.place == "load"]
    around = [window for window in record.windows if window.place == "around"]
    labels = sorted({answer.kind for answer in record.answers if answer.kind})
    counts = Counter(number for window in record.windows for number, _ in window.answers)
    return LoadAnswers(
        load=_windows(load, record.answers),
        around=_windows(around, record.answers),
        kinds={label: _windows(load, record.answers, label) for label in labels},
        answers=commonest(record.answers, counts),
        cpu_s=record.cpu_s,
        behind=record.behind,
        why=record.why,
    )


def _windows(
    windows: Sequence[WireWindow], distinct: Sequence[MonitorAnswer], label: str | None = None
) -> Windows:
    """Return the numbers of windows: of all answers, or of those to one kind."""
    each = ([(distinct[nth], seconds) for nth, seconds in window.answers] for window in windows)
    answers = [[pair for pair in pairs if label in {None, pair[0].kind}] for pairs in each]
    cut = (of_kind for window in windows for of_kind in window.cut.items())
    judged = [[answer for answer, _ in window if answer.judged] for window in answers]
    wrong = [sum(answer.wrong != "" for answer in window) for window in judged]
    other = [any(answer.other_body for answer in window) for window in judged]
    right = [count == 0 for count in wrong]
    return Windows(
        windows=len(windows),
        judged=sum(map(bool, judged)),
        wrong=sum(map(bool, wrong)),
        other_bodies=sum(map(operator.and_, other, right)),
        answers=sum(map(len, judged)),
        wrong_answers=sum(wrong),
        unjudged=sum(map(len, answers)) - sum(map(len, judged)),
        cut=sum(count for kind, count in cut if label in {None, kind}),
        longest_s=max((seconds for window in answers for _, seconds in window), default=None),
        lost_packets=sum(window.lost_packets for window in windows),
        open_s=sum(window.open_s for window in windows),
    )
