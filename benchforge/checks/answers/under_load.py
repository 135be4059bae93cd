"""Whether answers at random moments of a load were right (E6)."""

from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import Monitor, MonitorAnswer
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.reading import Reading, span
from benchforge.model.trial.trial import Trial
from benchforge.stats.inference.binomial import failing
from benchforge.text.readable import amount, conjoined, exact, listed, percent

_ID = "E6"
_SHOWN = 2


def answers(trial: Trial, limits: Thresholds) -> Check:
    """E6: whether a load's answers were right, by those of the monitor.

    It fails for answers that the load tool cannot tell from right ones. Where the tool tells their
    status or length, they are no good responses, and E1 counts them.
    """
    monitor = trial.monitor
    if monitor is None or not monitor.moments:
        return limits.check(_ID, "behaviour", None, f"{_NOT_KNOWN}: {_why_not(trial)}")
    rest = [*_left_out(trial, monitor), *_arrival(monitor)]
    if monitor.wrong:
        share = monitor.wrong / monitor.moments
        wrong = [answer for answer in monitor.answers if answer.wrong]
        hidden = [answer for answer in wrong if not _visible(answer, trial)]
        reasons = listed([answer.wrong for answer in hidden or wrong], _SHOWN)
        kinds = dict.fromkeys(answer.kind for answer in hidden or wrong if answer.kind)
        counted = "counts such answers as errors: see E1"
        if hidden or not wrong:
            counted = "does not tell such answers from right ones"
        says = "; ".join(
            [f"{_proved(monitor, *kinds)}: {reasons}", f"the load tool {counted}", *rest]
        )
        status: Status | None = None if hidden or not wrong else "warn"
        return limits.check(_ID, "behaviour", share, says, status=status)
    probes = trial.probes
    steady = probes is not None and probes.distinct == 1 and probes.before and probes.after
    if monitor.other_bodies and steady:
        rest.append(
            f"at {exact(monitor.other_bodies)} moments a body was another than that of all "
            "questions before and after the load: whether it is right is for `expect` to say"
        )
    status = "warn" if monitor.other_bodies and steady else None
    says = "; ".join([_proved(monitor), *rest])
    return limits.check(_ID, "behaviour", 0, says, status=status)


_NOT_KNOWN = "whether answers were right while the server was loaded is not known"


def _why_not(trial: Trial) -> str:
    monitor = trial.monitor
    if monitor is None and trial.turns is not None:
        return "servers in turns have no monitor: they stand still most of the time"
    if monitor is None:
        return "the scenario has no monitor: it is off, or off by default for this method"
    if monitor.why:
        return f"the monitor failed: {monitor.why}"
    return "; ".join(_left_out(trial, monitor)) or "the load was too short for the monitor"


def _proved(monitor: Monitor, *kinds: str) -> str:
    """Return what the moments prove, in one sentence."""
    estimate = failing([monitor.wrong], [monitor.moments])
    of = f"{exact(monitor.wrong)} of {exact(monitor.moments)}"
    what = f"an answer to {conjoined(kinds)}" if kinds else "an answer"
    says = f"at {of} random moments {what} was wrong"
    if estimate.low is None or estimate.high is None:
        return says
    if not monitor.wrong:
        return f"{says}: at most {percent(estimate.high)} of the answers were wrong (95 %)"
    return f"{says}, {percent(estimate.low)} to {percent(estimate.high)} of them (95 %)"


def _left_out(trial: Trial, monitor: Monitor) -> Iterator[str]:
    kinds = trial.stream.kinds if trial.stream is not None else {}
    if missed := sorted(kinds.keys() - {one.kind for one in monitor.answers}):
        yield f"no answer to {conjoined(missed, 'or')} came then"
    for why, count in monitor.unanswered.items():
        yield f"{exact(count)} not answered: {why}"
    if monitor.unjudged:
        yield f"{exact(monitor.unjudged)} not judged: bodies too many, too large or compressed"


def _arrival(monitor: Monitor) -> Iterator[str]:
    if monitor.median_s is not None and monitor.p90_s is not None:
        median, p90 = amount("s", monitor.median_s), amount("s", monitor.p90_s)
        yield f"a new connection was answered in {median} (median), {p90} (p90)"


def _visible(answer: MonitorAnswer, trial: Trial) -> bool:
    """Whether the load tool tells such an answer from a right one."""
    of_kind = trial.of_kind(answer.kind) if answer.kind else trial
    reading, right = of_kind.reading or trial.reading, of_kind.good_response
    if reading is None or right is None:
        return False
    if answer.status not in right.statuses:
        return _status_told(answer.status, right, reading)
    return bool(reading.bodies) and right.binding and not right.fits(answer.length)


def _status_told(status: int, right: GoodResponse, reading: Reading) -> bool:
    spans = [span(key) for key in reading.statuses]
    if any(status in among for among in spans):
        return any(status in among and not _any_in(right, among) for among in spans)
    # No response had it: so it is told if the right ones are told by their own status.
    return any(_any_in(right, among) and status not in among for among in spans)


def _any_in(right: GoodResponse, among: range) -> bool:
    return any(status in among for status in right.statuses)
