"""Trials again: answers from their bodies, readings from what tools printed, and so on."""

import hashlib
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchforge.checks import ask
from benchforge.checks.answers.alike import otherwise
from benchforge.checks.answers.counted import believable
from benchforge.checks.limits import limits
from benchforge.errors import BenchforgeError, TrialFailed
from benchforge.model.files.folder import ANSWER
from benchforge.model.trial.answers.answer import difference
from benchforge.model.trial.answers.good_response import right_of
from benchforge.model.trial.answers.monitor import Monitor, MonitorAnswer
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.rows import MOST_BYTES, SYSTEM, USAGE, rows_text
from benchforge.model.trial.turns import Turns
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.places import JsonPath
from benchforge.parts.content import LARGEST_FILE
from benchforge.parts.fault import reading_of
from benchforge.results.recomputed.verified import Recomputed, Values, plain
from benchforge.results.verify.recompute import divided
from benchforge.results.verify.recompute.divided import output_of, was_refused
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result
from benchforge.run.http import monitor as monitoring
from benchforge.run.http.monitor import Record, SeenAnswer
from benchforge.run.http.wire import record as wire
from benchforge.run.machine import placement, quiet
from benchforge.stats.observation import OF_MACHINE, OF_USAGE, recomputed
from benchforge.stats.search.objective import judged
from benchforge.stats.search.search import following
from benchforge.stats.turns import counted_in_slices, in_turns
from benchforge.text import door
from benchforge.text.readable import exact

_OF_DRIVER = ("connections", "processes", "declared_s", "kind", "rate", "concurrency", "think_s")
"Fields of a load that its driver alone decides."
_BEFORE_AND_AFTER = 2
_SEEN_RUNNING = (quiet.ID, placement.ID)
"The checks of a trial that nothing kept tells; neither ever fails."


def there(result: Result) -> Iterator[Recomputed]:
    """Whether each trial that was measured is there: their numbers have no gaps."""
    numbers = {trial.model.number for trial in result.trials}
    lost = max(numbers, default=0) - len(numbers)
    if lost:
        first = next(number for number in itertools.count(1) if number not in numbers)
        others = f" and {exact(lost - 1)} more" if lost > 1 else ""
        reason = f"trial {first}{others}: lost or removed, whatever was measured"
        yield result.again("plan", cannot=reason)


def answers(result: Result) -> Values:
    """The answer before the load, from its body; and whether it is the one that was expected."""
    for trial in result.trials:
        if not trial.model.answers:
            continue
        answer = trial.model.answers[0]
        body_path: JsonPath = ("answers", 0, *(() if answer.decoded is None else ("decoded",)))
        path = (*body_path, "sha256")
        if not door.holds(trial.file.parent, ANSWER):
            reason = f"no {ANSWER} beside the trial: it went, or held a secret"
            yield Recomputed(trial, path, cannot=reason)
            continue
        try:
            body = door.read(trial.file.parent, ANSWER, LARGEST_FILE)
        except OSError as error:
            yield Recomputed(trial, path, cannot=f"{ANSWER}: {error.strerror}")
            continue
        yield Recomputed(trial, path, hashlib.sha256(body).hexdigest())
        yield Recomputed(trial, (*body_path, "length"), len(body))
        mixed = trial.model.stream is not None  # then it is looked at with its kind
        expected = None if mixed else result.suite.expect(trial.model.case)
        wrong = difference(expected, answer, body) if expected is not None else None
        if wrong is not None and trial.model.measured:
            yield trial.fault(f"{ANSWER} is not what the suite expects: {wrong}", "answers", 0)


def readings(result: Result) -> Values:
    """What the load tool says, from what it printed and wrote."""
    for stored in result.measured:
        if stored.trial.reading is not None or was_refused(stored.trial):
            yield from _reading(result, stored)


def _reading(result: Result, stored: KeptTrial) -> Values:
    refused = was_refused(stored.trial)
    try:
        driver = result.driver(stored)
        output = output_of(stored.trial, stored.file.file, driver)
    except (BenchforgeError, OSError) as error:
        yield stored.again("reading", cannot=str(error))
        return
    if stored.trial.load is not None:
        load = driver.load()
        for name in _OF_DRIVER:
            yield stored.again("load", name, value=getattr(load, name))
    try:
        if tools := divided.shares(stored.trial, driver):
            yield from divided.readings(result, stored, tools)
            return
        reading = reading_of(driver, output)
    except Exception as error:  # noqa: BLE001 - a plugin's code, on files of any kind
        if refused:
            yield stored.again("failure", "message", value=str(error))
        else:
            yield stored.again("reading", cannot=str(error) or type(error).__name__)
        return
    if refused:
        yield stored.fault("its files can be read, and give a reading", "failure", "message")
    if stored.trial.turns is not None:
        yield from _slices(stored, reading, stored.trial.turns)
        reading = in_turns(reading, stored.trial.turns)
    yield stored.again("reading", value=plain(divided.good_of(result, stored.trial, reading)))


def _slices(stored: KeptTrial, reading: Reading, turns: Turns) -> Values:
    """The responses of each slice, and whether they contradict the load tool's total."""
    again, reason = counted_in_slices(reading, turns, stored.trial.load)
    if reason is not None:
        yield stored.fault(reason, "turns", "slices")
    if turns.uncounted_bytes is not None:
        for number, slice_ in enumerate(again.slices):
            yield stored.again("turns", "slices", number, "responses", value=slice_.responses)


def observations(result: Result) -> Iterator[Recomputed]:
    """What was seen from outside, from what was noted of each part and of the machine."""
    for stored in result.measured:
        observation = stored.trial.observation
        if observation is None or not observation.samples:  # an older benchforge noted nothing
            continue
        try:
            again = recomputed(observation, _text(stored, USAGE), _text(stored, SYSTEM))
        except (ValueError, OSError, BenchforgeError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            yield stored.again("observation", cannot=reason or "unknown")
            continue
        yield stored.again("observation", "samples", value=again.samples)
        yield stored.again("observation", "flow", value=plain(again.flow) if again.flow else None)
        document: Any = plain(again)
        for number, usage in enumerate(document["usage"]):
            for name in OF_USAGE:
                yield stored.again("observation", "usage", number, name, value=usage[name])
        for name in OF_MACHINE if again.machine is not None else ():
            yield stored.again("observation", "machine", name, value=document["machine"][name])


def _text(stored: KeptTrial, name: str) -> str:
    if not door.holds(stored.file.file.parent, name):
        raise BenchforgeError(f"no {name} beside the trial")
    return rows_text(door.read(stored.file.file.parent, name, MOST_BYTES))


def searches(result: Result) -> Values:
    """At which rate each trial of a search was made, from those before; and what it gave."""
    header = result.header.model
    trials = [trial.model for trial in result.trials]
    for trial in result.trials:
        find = header.searches.get(trial.model.case.scenario)
        if find is None:
            continue
        model = trial.model
        try:
            rate = following(find, model.case, model.block, trials).rate
        except BenchforgeError as error:
            yield Recomputed(trial, ("search_outcome",), cannot=error.message)
            continue
        if rate is None:
            yield trial.fault("its search was over before it", "search_outcome")
            continue
        again = judged(model, header.searches, result.suite.metrics, smoke=header.smoke)
        yield Recomputed(trial, ("load", "rate"), rate)
        yield Recomputed(trial, ("search_outcome",), None if again is None else plain(again))


def failures(result: Result) -> Values:
    """The reason why an answered trial with a reading is not a measurement."""
    for trial in result.trials:
        model = trial.model
        expected = None if model.stream is not None else result.suite.expect(model.case)
        if model.reading is None or len(model.answers) < _BEFORE_AND_AFTER or expected is None:
            continue
        right = right_of(expected, model.request, model.answers, model.probes)
        same_rules = result.header.model.thresholds_version == limits().version
        if model.good_response is not None and same_rules:
            yield Recomputed(trial, ("good_response",), plain(right))
        failure = otherwise(model.checks, model.case.server)
        stage, message = (failure.stage, failure.message) if failure else ("", "")
        try:
            believable(model.reading, model.case, right)
        except TrialFailed as error:
            stage, message = error.stage, error.message
        if message:
            yield Recomputed(trial, ("failure", "stage"), stage)
            yield Recomputed(trial, ("failure", "message"), message)
        elif (
            model.failure is not None
            and model.failure.subject == "behaviour"
            and model.failure.stage in {"ask", "drive", "read"}  # a reading or an answer shows it
        ):
            yield trial.fault("nothing that was kept shows it", "failure")


def thresholds(result: Result) -> Iterator[Recomputed]:
    """Whether this benchforge has the checks of the result."""
    then, version = result.header.model.thresholds_version, limits().version
    if then != version:
        reason = f"checks of version {then}; this benchforge has those of {version}"
        yield result.again("thresholds_version", cannot=reason)


def checks(result: Result) -> Values:
    """What the checks answer, from the trial; those that saw it running stand first."""
    header = result.header.model
    if any(thresholds(result)):
        return
    checks_of = ask.of_trials(header, result.suite.metrics)
    for stored_trial in result.measured:
        stored = stored_trial.trial.checks
        trial = stored_trial.trial
        if otherwise(stored, trial.case.server):  # which failed for what they answered
            trial = trial.model_copy(update={"failure": None})
        checks_while_running = [*itertools.takewhile(lambda each: each.id in _SEEN_RUNNING, stored)]
        try:
            checked = checks_of(trial.model_copy(update={"checks": tuple(checks_while_running)}))
        except Exception as error:  # noqa: BLE001 - of numbers of any kind
            yield stored_trial.again("checks", cannot=f"{type(error).__name__}: {error}")
            continue
        for number, check in enumerate(checks_while_running):
            if check.status == "fail":
                yield stored_trial.fault(f"{check.id} never fails", "checks", number, "status")
        for number, check in enumerate(checked, len(checks_while_running)):
            yield stored_trial.again("checks", number, value=plain(check))
        for number in range(len(checks_while_running) + len(checked), len(stored)):
            reason = f"{stored[number].id}: its checks do not give this"
            if result.other:
                yield stored_trial.again("checks", number, cannot=reason)
            else:
                yield stored_trial.fault(reason, "checks", number)


def monitors(result: Result) -> Iterator[Recomputed]:
    """The numbers of each monitor, given which kinds of its answers were right; and of windows."""
    for stored in result.measured:
        monitor, read = stored.trial.monitor, stored.trial.load_answers
        if monitor is not None and not monitor.why:
            yield _of_record(stored, "monitor", monitoring.RECORD, partial(_monitor, monitor))
        if read is not None and not read.why:
            yield _of_record(
                stored, "load_answers", wire.RECORD, lambda raw: wire.tallied(wire.record_of(raw))
            )


def _of_record(
    stored: KeptTrial, name: str, record: str, tallied: Callable[[bytes], Frozen]
) -> Recomputed:
    try:
        content = door.read(stored.file.file.parent, record, wire.MOST_RECORD)
        return stored.again(name, value=plain(tallied(content)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return stored.again(name, cannot=f"{record}: {reason}")


def _monitor(monitor: Monitor, content: bytes) -> Frozen:
    record = monitoring.record_of(content)
    again = monitoring.tallied(record, list(_kinds(record, monitor)))
    return again.model_copy(update={"head": monitor.head, "version": monitor.version})


def _kinds(record: Record, monitor: Monitor) -> Iterator[MonitorAnswer]:
    """Yield what was kept of each kind. Raises ValueError where only the first ones were."""
    by_kind = {_key(answer): answer for answer in monitor.answers}
    for kind in record.kinds:
        answer = by_kind.get(_key(kind))
        if answer is None:
            raise ValueError("which of its kinds of answers were right was not kept of all")
        yield answer


def _key(answer: SeenAnswer | MonitorAnswer) -> tuple[object, ...]:
    wrong = answer.wrong if answer.kind else ""
    same = answer.status, answer.content_type, answer.length, answer.sha256
    return answer.kind, wrong, *same
