"""Trials again: answers from their bodies, readings from what tools printed, and so on."""

import hashlib
from collections.abc import Iterator

from benchforge.checks import ask
from benchforge.checks.alike import otherwise
from benchforge.checks.quiet import limits_of
from benchforge.errors import BenchforgeError, TrialFailed
from benchforge.model.answer import difference
from benchforge.model.faults import beside
from benchforge.model.file import Fault
from benchforge.model.observation import Machine, Observation, Usage
from benchforge.model.rows import SYSTEM, USAGE
from benchforge.model.trial import Trial
from benchforge.run.blame import reading_of
from benchforge.run.drive import believable
from benchforge.run.execute import ANSWER
from benchforge.run.seek import following
from benchforge.run.verify.again import Again, Measured, Result, plain
from benchforge.run.verify.left import output_of, was_refused
from benchforge.stats.objective import judged
from benchforge.stats.observed import recomputed

_OF_THE_DRIVER = ("connections", "processes", "declared_s", "kind", "rate", "at_once", "think_s")
"What of a load its driver tells, whatever is asked."
_BEFORE_AND_AFTER = 2
_SEEN_RUNNING = ("quiet", "placement")
"The checks of a trial that nothing kept tells; neither ever fails."


def there(result: Result) -> Iterator[Again]:
    """Whether each trial that was measured is there: their numbers have no gaps."""
    numbers = {one.model.number for one in result.trials}
    lost = sorted(set(range(1, max(numbers, default=0))) - numbers)
    if lost:
        others = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        why = f"trial {lost[0]}{others}: lost or removed, whatever was measured"
        yield Again(result.header, ("plan",), cannot=why)


def answers(result: Result) -> Iterator[Again | Fault]:
    """The answer before the load, from its body; and whether it is the one that was expected."""
    for trial in result.trials:
        if not trial.model.answers:
            continue
        path, file = ("answers", 0, "sha256"), trial.file.with_name(ANSWER)
        if not beside(trial.file, ANSWER):
            yield Again(trial, path, cannot=f"no {ANSWER} beside the trial")
            continue
        body, answer = file.read_bytes(), trial.model.answers[0]
        yield Again(trial, path, hashlib.sha256(body).hexdigest())
        yield Again(trial, ("answers", 0, "length"), len(body))
        expected = result.suite.expect(trial.model.case)
        wrong = difference(expected, answer, body) if expected is not None else None
        if wrong is not None and trial.model.measured:
            yield trial.fault(f"{ANSWER} is not what the suite expects: {wrong}", "answers", 0)


def readings(result: Result) -> Iterator[Again | Fault]:
    """What the load tool says, from what it printed and wrote."""
    for one in result.measured:
        if one.trial.reading is not None or was_refused(one.trial):
            yield from _reading(result, one)


def _reading(result: Result, one: Measured) -> Iterator[Again | Fault]:
    refused = was_refused(one.trial)
    try:
        driver = result.driver(one)
        output = output_of(one.trial, one.file.file, driver)
    except (BenchforgeError, OSError) as error:
        yield one.again("reading", cannot=str(error))
        return
    if one.trial.load is not None:
        told = driver.load()
        for name in _OF_THE_DRIVER:
            yield one.again("load", name, value=getattr(told, name))
    try:
        reading = reading_of(driver, output)
    except Exception as error:  # noqa: BLE001 - a plugin's code, on files of any kind
        if refused:
            yield one.again("failure", "message", value=str(error))
        else:
            yield one.again("reading", cannot=str(error) or type(error).__name__)
        return
    if refused:
        yield one.fault("its files can be read, and give a reading", "failure", "message")
    yield one.again("reading", value=plain(reading))


def observations(result: Result) -> Iterator[Again]:
    """What was seen from outside, from what was noted of each part and of the machine."""
    for one in result.measured:
        seen = one.trial.observation
        if seen is None or not seen.samples:  # an older benchforge noted nothing
            continue
        try:
            again = recomputed(_blank(seen), _text(one, USAGE), _text(one, SYSTEM))
        except (ValueError, OSError, BenchforgeError) as error:
            yield one.again("observation", cannot=str(error))
            continue
        yield one.again("observation", "samples", value=again.samples)
        yield one.again("observation", "flow", value=plain(again.flow) if again.flow else None)
        for number, usage in enumerate(again.usage):
            yield from _set(one, usage, "usage", number)
        if again.machine is not None:
            yield from _set(one, again.machine, "machine")


def _blank(seen: Observation) -> Observation:
    """Return what was seen without any figure: what is set afterwards, the two files told."""
    usage = tuple(
        Usage(label=one.label, role=one.role, cpu_s=None, peak_pss_bytes=None) for one in seen.usage
    )
    machine = Machine(cpus=seen.machine.cpus) if seen.machine is not None else None
    return seen.model_copy(update={"usage": usage, "machine": machine})


def _set(one: Measured, model: Usage | Machine, *at: str | int) -> Iterator[Again]:
    document = plain(model)
    assert isinstance(document, dict)  # noqa: S101 - of a model
    for name in sorted(model.model_fields_set):
        yield one.again("observation", *at, name, value=document[name])


def _text(one: Measured, name: str) -> str:
    if not beside(one.file.file, name):
        raise BenchforgeError(f"no {name} beside the trial")
    return one.file.file.with_name(name).read_text()


def searches(result: Result) -> Iterator[Again | Fault]:
    """At which rate each trial of a search was made, from those before; and what it gave."""
    header = result.header.model
    trials = [trial.model for trial in result.trials]
    for trial in result.trials:
        find = header.finds.get(trial.model.case.scenario)
        if find is None:
            continue
        told = trial.model
        try:
            rate = following(find, told.case, told.block, trials).rate
        except BenchforgeError as error:
            yield Again(trial, ("sought",), cannot=error.message)
            continue
        if rate is None:
            yield trial.fault("its search was over before it", "sought")
            continue
        again = judged(told, header.finds, result.suite.metrics, smoke=header.smoke)
        yield Again(trial, ("load", "rate"), rate)
        yield Again(trial, ("sought",), None if again is None else plain(again))


def failures(result: Result) -> Iterator[Again | Fault]:
    """Why a trial that has a reading, and was answered after its load, is no measurement."""
    for trial in result.trials:
        told = trial.model
        expected = result.suite.expect(told.case)
        if told.reading is None or len(told.answers) < _BEFORE_AND_AFTER or expected is None:
            continue
        shown = otherwise(told.checks, told.case.server)
        stage, message = (shown.stage, shown.message) if shown else ("", "")
        try:
            believable(told.reading, told.case, told.request, expected, told.answers[0].length)
        except TrialFailed as error:
            stage, message = error.stage, error.message
        if message:
            yield Again(trial, ("failure", "stage"), stage)
            yield Again(trial, ("failure", "message"), message)
        elif _would_show(told):
            yield trial.fault("nothing that was kept shows it", "failure")


def _would_show(told: Trial) -> bool:
    """Whether its failure is of a kind that a reading or an answer would show."""
    failure = told.failure
    if failure is None or failure.about != "behaviour":
        return False
    return failure.stage in {"ask", "drive", "read"}


def checks(result: Result) -> Iterator[Again | Fault]:
    """What the checks answer, from the trial; those that saw it running stand first."""
    limits = limits_of(result.header.model)
    for one in result.measured:
        told = one.trial.checks
        asked = one.trial
        if otherwise(told, asked.case.server):  # which failed for what they answered
            asked = asked.model_copy(update={"failure": None})
        try:
            size = len(ask.of_trial(asked, limits))
            own = told[: max(0, len(told) - size)]
            found = ask.of_trial(asked.model_copy(update={"checks": own}), limits)
        except Exception as error:  # noqa: BLE001 - of numbers of any kind
            yield one.again("checks", cannot=f"{type(error).__name__}: {error}")
            continue
        for number, check in enumerate(own if result.ours else ()):
            if check.id not in _SEEN_RUNNING or check.status == "fail":
                yield one.fault(
                    f"{check.id}: {check.status} is no answer of its checks", "checks", number
                )
        for number, check in enumerate(found, len(own)):
            yield one.again("checks", number, value=plain(check))
