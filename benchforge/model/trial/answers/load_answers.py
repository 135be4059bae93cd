"""What a server answered on the load's own connections, read on the network in random windows."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from benchforge.model.trial.answers.monitor import MonitorAnswer
from benchforge.model.values.frozen import Frozen


class Windows(Frozen):
    """Random windows of a load, and what was judged in them.

    Answers of one window stand or fall together: so a bound is that of windows, not of answers.
    """

    windows: NonNegativeInt = 0
    "Number of windows that were opened."
    judged: NonNegativeInt = 0
    "Number of windows in which at least one answer was judged."
    wrong: NonNegativeInt = 0
    "Number of windows with a wrong answer."
    other_bodies: NonNegativeInt = 0
    "Number of windows with right answers only, of which one has a body that no probe got."
    answers: NonNegativeInt = 0
    "Number of answers that were judged."
    wrong_answers: NonNegativeInt = 0
    "Number of answers that were wrong."
    unjudged: NonNegativeInt = 0
    "Number of complete answers that were not judged: too large, not decoded, of no known request."
    cut: NonNegativeInt = 0
    "Number of answers whose request came in a window, and whose end did not within the bound."
    longest_s: NonNegativeFloat | None = None
    "Longest time from the end of a request to the end of its answer."
    lost_packets: NonNegativeInt = 0
    "Number of packets that the kernel dropped: the connections' answers were not judged."
    open_s: NonNegativeFloat = 0.0
    "Time for which a packet socket was open, in all windows together."


class LoadAnswers(Frozen):
    """Answers on the load's own connections, judged as the scenario's or kind's `expect` says."""

    load: Windows = Windows()
    "Windows in the measured load."
    around: Windows = Windows()
    "Windows where nothing is measured: warm-up, slices that do not count, a load after the load."
    kinds: dict[str, Windows] = Field(default_factory=dict)
    "Windows in the measured load by the label of a kind, in a mix: what was judged of this kind."
    answers: tuple[MonitorAnswer, ...] = ()
    "Distinct answers: the wrong ones first, then the most frequent, at most 32 of each."
    cpu_s: NonNegativeFloat = 0.0
    "CPU time that the windows took during the load."
    why: str = ""
    "Reason why nothing is known, such as TLS or HTTP/2; empty if windows were opened."
