"""Correctness of a load's answers: on its connections, and at a monitor's moments (E6)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from math import comb
from statistics import median
from typing import NamedTuple, cast

from benchforge.checks.answers.alike import kind, type_of
from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import by_name
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import LoadAnswers, Monitor, MonitorAnswer, Windows
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.reading import Reading, span
from benchforge.model.trial.trial import Trial
from benchforge.stats.inference.interval import failing
from benchforge.text.readable import amount, conjoined, exact, figure, listed, percent

_ID = "E6"
_SHOWN = 2
_LIKELY = 0.05
"Least probability, by Fisher's exact test, of windows that are pooled with those of the load."


class _Population(NamedTuple):
    """Answers of one population: those on the load's own connections, or those to the monitor."""

    proves: str
    share: float
    "Share of windows or moments with a wrong answer."
    answers: tuple[MonitorAnswer, ...]
    notes: tuple[str, ...] = ()
    outside: bool = False
    "True if answers were wrong outside of the load only, and its own windows differ from these."


def answers(trial: Trial, limits: Thresholds) -> Check:
    """E6: whether a load's answers were right, of each population that was judged.

    It fails for answers that the load tool cannot tell from right ones. Where the tool tells their
    status or length, they are no good responses, and E1 counts them.
    """
    judged = _populations([trial])
    if not judged:
        return limits.check(_ID, "behaviour", None, _not_known([trial]))
    says, status = [finding.proves for finding in judged], cast("Status | None", None)
    distinct = [answer for judgement in judged for answer in judgement.answers]
    share = max(judgement.share for judgement in judged)
    if share or any(judgement.outside for judgement in judged):
        wrong, hidden = _wrong(trial, distinct)
        first = next(n for n, group in enumerate(judged) if group.share or group.outside)
        says[first] += f": {listed(dict.fromkeys(answer.wrong for answer in wrong), _SHOWN)}"
        tells = "does not tell such answers from right ones"
        says.append(f"the load tool {tells if hidden else 'counts such answers as errors: see E1'}")
        status = None if hidden and share else "warn"
    elif unlike := [answer for answer in distinct if _is_unlike(answer, trial)]:
        says.append(_unlike(unlike))
        status = "warn"
    says += [note for judgement in judged for note in judgement.notes]
    return limits.check(_ID, "behaviour", share, "; ".join(says), status)


def of_cases(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield E6 of each case of a comparison: what all of its trials prove, unknown for nothing."""
    for name, trials in by_name(cases).items():
        judged = _populations(trials)
        if judged or any(trial.measured for trial in trials):
            says = "; ".join(text for group in judged for text in (group.proves, *group.notes))
            status: Status = "pass" if judged else "unknown"
            says = says or _not_known(trials)
            yield limits.check(_ID, "behaviour", None, says, status).about(name, "comparison")


def _populations(trials: Sequence[Trial]) -> list[_Population]:
    return [*filter(None, (_of_load(trials), _of_monitor(trials)))]


def _of_load(trials: Sequence[Trial]) -> _Population | None:
    read = _read(trials)
    load, around = _windows(read)
    if not load.judged and not around.wrong:
        return None
    distinct = tuple(answer for load_answers in read for answer in load_answers.answers)
    behind = next((f" behind {row.behind}" for row in read if row.behind), "")
    says = f"{exact(load.wrong)} of {exact(load.judged)} random windows of the load{behind} "
    says += f"({exact(load.answers)} answers) held a wrong answer"
    says += _kinds_of(trials[0], distinct, load.wrong) + _bound(load.wrong, load.judged)
    share, differ = load.wrong / max(load.judged, 1), False
    if around.judged:
        says += f", and {exact(around.wrong)} of {exact(around.judged)} windows outside of it"
    if around.wrong and not load.wrong:
        windows = load.judged + around.judged
        chance = comb(around.judged, around.wrong) / comb(windows, around.wrong)
        differ = chance < _LIKELY
        share = 0.0 if differ else around.wrong / windows
        says += f" ({'not ' if differ else ''}pooled: Fisher's exact test, p = {figure(chance)})"
    notes = [*_of_kinds(trials, read), *_left_out(_together([load, around]))]
    return _Population(says, share, distinct, tuple(notes), differ)


def _read(trials: Sequence[Trial]) -> list[LoadAnswers]:
    return [trial.load_answers for trial in trials if trial.load_answers is not None]


def _windows(read: Sequence[LoadAnswers]) -> tuple[Windows, Windows]:
    return _together(row.load for row in read), _together(row.around for row in read)


def _together(parts: Iterable[Windows]) -> Windows:
    rows, names = list(parts), {field.name for field in fields(Windows)} - {"longest_s"}
    return Windows(**{name: sum(getattr(row, name) for row in rows) for name in names})


def _bound(wrong: int, total: int) -> str:
    """Return how many of all windows or moments had a wrong answer, as far as these tell."""
    estimate = failing([(wrong, total)])
    if estimate.low is None or estimate.high is None:
        return ""
    if not wrong:
        return f": at most {percent(estimate.high)} of them did (95 %)"
    return f", {percent(estimate.low)} to {percent(estimate.high)} of them (95 %)"


def _kinds_of(trial: Trial, distinct: Iterable[MonitorAnswer], count: int) -> str:
    wrong = _wrong(trial, distinct)[0] if count else ()
    kinds = sorted({answer.kind for answer in wrong if answer.kind})
    return f" to {conjoined(kinds)}" if kinds else ""


def _of_kinds(trials: Sequence[Trial], read: Sequence[LoadAnswers]) -> Iterator[str]:
    labels = trials[0].stream.kinds if trials[0].stream is not None else ()
    windows = {name: _together(row.kinds.get(name, Windows()) for row in read) for name in labels}
    texts = [
        f"{label} {exact(kind.wrong)} of {exact(kind.judged)}{_bound(kind.wrong, kind.judged)}"
        for label, kind in windows.items()
        if kind.judged
    ]
    if texts:
        yield f"windows with a wrong answer by kind: {', '.join(texts)}"
    if silent := [label for label, kind in windows.items() if not kind.judged]:
        yield f"no answer to {conjoined(silent, 'or')} was judged in them"


def _left_out(windows: Windows) -> Iterator[str]:
    began = windows.answers + windows.unjudged + windows.cut
    if windows.cut:
        cut = f"{percent(windows.cut / began)} of the answers that began in windows were cut"
        yield f"{cut}: they took too long to be judged"
    if windows.unjudged:
        reason = "too large, not decoded, or to no known request"
        yield f"{exact(windows.unjudged)} not judged: {reason}"
    if windows.lost_packets:
        yield f"{exact(windows.lost_packets)} packets lost: their connections were not judged"


def _of_monitor(trials: Sequence[Trial]) -> _Population | None:
    monitors = [trial.monitor for trial in trials if trial.monitor is not None]
    moments, wrong = sum(row.moments for row in monitors), sum(row.wrong for row in monitors)
    if not moments:
        return None
    distinct = tuple(answer for monitor in monitors for answer in monitor.answers)
    versions = sorted({monitor.version for monitor in monitors} - {""})
    over = "".join(f" over {version}" for version in versions)
    says = f"{exact(wrong)} of {exact(moments)} random moments of the monitor{over}, on "
    says += "connections of its own, brought a wrong answer"
    says += _kinds_of(trials[0], distinct, wrong) + _bound(wrong, moments)
    notes = [*_held(monitors), *_unread(trials), *_unanswered(trials), *_arrival(monitors)]
    return _Population(says, wrong / moments, distinct, tuple(notes))


def _held(monitors: Sequence[Monitor]) -> Iterator[str]:
    if held := sum(item.held for item in monitors):
        streams = exact(max(item.streams for item in monitors))
        age = amount("s", max(item.oldest_s for item in monitors))
        yield (
            f"{exact(held)} of these moments were on a connection that it held open, up to its "
            f"request {streams} and an age of {age}: later ones are unknown"
        )


def _unread(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield why nothing is known of the load's own connections, if nothing is."""
    read = _read(trials)
    load, around = _windows(read)
    if load.judged or around.wrong:
        return
    if load.windows or around.windows:
        yield f"no answer was judged in {exact(load.windows)} windows of the load"
        if around.judged:
            yield f"0 of {exact(around.judged)} windows outside of it held a wrong answer"
        yield from _left_out(_together([load, around]))
        return
    reasons = [*dict.fromkeys(load_answers.why for load_answers in read if load_answers.why)]
    yield f"nobody read the load's own connections{''.join(f': {reason}' for reason in reasons)}"


def _unanswered(trials: Sequence[Trial]) -> Iterator[str]:
    monitors = [trial.monitor for trial in trials if trial.monitor is not None]
    kinds = trials[0].stream.kinds.keys() if trials[0].stream is not None else ()
    answered = {answer.kind for monitor in monitors for answer in monitor.answers}
    if missed := sorted({*kinds} - answered):
        yield f"no answer to {conjoined(missed, 'or')} came then"
    reasons = Counter[str]()
    for monitor in monitors:
        reasons.update(monitor.unanswered)
    yield from (f"{exact(count)} not answered: {reason}" for reason, count in reasons.items())
    if unjudged := sum(monitor.unjudged for monitor in monitors):
        yield f"{exact(unjudged)} not judged: bodies too many, too large or compressed"


def _arrival(monitors: Sequence[Monitor]) -> Iterator[str]:
    medians = [monitor.median_s for monitor in monitors if monitor.median_s is not None]
    longest = [monitor.longest_s for monitor in monitors if monitor.longest_s is not None]
    if medians and longest:
        usual, most = amount("s", median(medians)), amount("s", max(longest))
        yield f"a new connection was answered in {usual} (median), {most} at most"


def _not_known(trials: Sequence[Trial]) -> str:
    monitors = [trial.monitor for trial in trials if trial.monitor is not None]
    failures = dict.fromkeys(monitor.why for monitor in monitors if monitor.why)
    reasons = [f"the monitor failed: {failure}" for failure in failures]
    if not monitors:
        reasons = ["no monitor ran: `monitor` in the scenario sets one"]
        if trials[0].turns is not None:
            reasons = ["servers in turns have no monitor: they stand still most of the time"]
    reasons = reasons or [*_unanswered(trials)] or ["the load was too short for the monitor"]
    return f"no answer of the load was judged: {'; '.join([*_unread(trials), *reasons])}"


def _is_unlike(answer: MonitorAnswer, trial: Trial) -> bool:
    """Return True if a right answer's body, in a mix its type, differs from single requests'."""
    probes = (trial.of_kind(answer.kind) if answer.kind else trial).probes
    if probes is None or answer.wrong:
        return False
    alike = (row.answer for row in probes.most_frequent if row.answer.status == answer.status)
    types = {kind(single) for single in alike}
    steady = probes.distinct == 1 and bool(probes.before and probes.after) and not answer.kind
    other_type = bool(types) and type_of(answer.content_type) not in types
    return (answer.other_body and steady) or other_type


def _unlike(answers: Sequence[MonitorAnswer]) -> str:
    most = max(answers, key=lambda answer: answer.answers)
    total = f"{exact(sum(answer.answers for answer in answers))} answers"
    says = f"{total} had a body unlike all that single requests got: {exact(most.length)} bytes of "
    says += f"{type_of(most.content_type)}{f', {most.begin!r}' if most.begin else ''}: "
    return f"{says}whether it is right is for `expect` to say"


def _wrong(trial: Trial, distinct: Iterable[MonitorAnswer]) -> tuple[Sequence[MonitorAnswer], bool]:
    """Return the wrong answers to name, and whether the load tool takes some for right ones."""
    wrong = [answer for answer in distinct if answer.wrong]
    hidden = [answer for answer in wrong if not _visible(answer, trial)]
    return hidden or wrong, bool(hidden) or not wrong


def _visible(answer: MonitorAnswer, trial: Trial) -> bool:
    """Return True if the load tool tells such an answer from a right one."""
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
    # No response had it: it shows if the tool counts the right ones by their own status.
    return any(_any_in(right, among) and status not in among for among in spans)


def _any_in(right: GoodResponse, among: range) -> bool:
    return any(status in among for status in right.statuses)
