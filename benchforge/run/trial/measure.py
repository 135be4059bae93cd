"""Measuring a trial in a place of its own; whatever ends it, what is known stays in its record."""

import contextlib
import errno
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

from benchforge.checks.answers.answers import judged
from benchforge.checks.answers.counted import believable, counted, counted_kinds
from benchforge.checks.limits import limits
from benchforge.errors import BenchforgeError, CannotKeep, OutputDamaged, TrialFailed
from benchforge.model.files.result import changes, fingerprint
from benchforge.model.trial.answers.answer import Expect
from benchforge.model.trial.reading import Load
from benchforge.model.trial.trial import Failure, Trial
from benchforge.parts.fault import blamed
from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.result_writer import entered
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.disk.space import FREE_SOME, told_full
from benchforge.run.machine import placement, quiet
from benchforge.run.machine.facts import hard_facts
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.sandbox import last_lines
from benchforge.run.trial.context import MeasuredTrial, TrialContext, TrialInputs
from benchforge.run.trial.scope import (
    TrialRecorder,
    TrialScope,
    driver_label,
    services_of,
    trial_scope,
)
from benchforge.run.trial.stages.order import ALONE, LocalWay, run
from benchforge.run.trial.stages.start import stop
from benchforge.suite.cases.case import Case
from benchforge.suite.secrets import redacted

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
_RECORDED = Trial.model_fields.keys() & {field.name for field in fields(TrialRecorder)}
"What a recorder and its trial have in common."
Tell = Callable[[str], None]


def measure(
    inputs: TrialInputs, context: TrialContext, tell: Tell = lambda _: None
) -> MeasuredTrial:
    """Run one trial in its folder, once it is quiet or its spare seconds are over.

    `tell` hears each phase, and nothing during the load. A failure is in the trial; only CannotKeep
    is raised. Neither the trial nor the folder's files then hold secrets.
    """
    # Each process has a working folder of its own.
    resolved = replace(inputs, folder=entered(inputs.folder))
    if inputs.step.case.hosts and context.elsewhere is not None:
        try:
            measured = context.elsewhere(resolved, context, tell)
        finally:
            _hide([inputs], context)
        return replace(measured, trial=redacted(measured.trial, context.secrets))
    recorder = begun(resolved, context, tell)
    most_s = quiet.at_most_s(context.quiet, inputs.step.case.declared_s, inputs.spare_s)
    if most_s is not None:
        with recorder.phase("quiet"):
            foreign = quiet.until_quiet(most_s)
        recorder.checks.append(quiet.check(foreign))
    return measured_together([(resolved, recorder)], context, lambda _: ALONE)[0]


def measured_together(
    trials: Sequence[tuple[TrialInputs, TrialRecorder]],
    context: TrialContext,
    way: Callable[[Sequence[TrialScope]], LocalWay],
) -> list[MeasuredTrial]:
    """Measure trials that run together, or one alone, and return them without secrets.

    A failure is in its trial. Raises CannotKeep, and our own faults.
    """
    recorders = [recorder for _, recorder in trials]
    try:
        with contextlib.ExitStack() as places:
            scopes = [_opened(places, *trial, context) for trial in trials]
            run(way(scopes), scopes)
            stop(scopes)
    except Exception as error:  # noqa: BLE001 - raised again where it is nobody's but ours
        # What is raised on the way out, such as a folder that is gone, counts more.
        if all(recorder.error is not error for recorder in recorders):
            culprit = next((each for each in recorders if each.error), recorders[0])
            culprit.error = error
    finally:
        _hide([inputs for inputs, _ in trials], context)
    return [_ended(*trial, context) for trial in trials]


def _opened(
    stack: contextlib.ExitStack, inputs: TrialInputs, recorder: TrialRecorder, context: TrialContext
) -> TrialScope:
    with recorder.blamed():
        scratch = stack.enter_context(scratch_folder())
        return stack.enter_context(trial_scope(inputs, context, recorder, scratch))


def _ended(inputs: TrialInputs, recorder: TrialRecorder, context: TrialContext) -> MeasuredTrial:
    case, failure = inputs.step.case, None
    if recorder.error is not None:
        failure = failure_of(recorder.error, case, inputs.folder)
    if recorder.placement is not None and recorder.observation is not None:
        usage = recorder.observation.usage
        recorder.checks.append(placement.check(recorder.placement, usage))
    return trial_of(inputs, context, recorder, failure)


def _hide(trials: Sequence[TrialInputs], context: TrialContext) -> None:
    for inputs in trials:
        if inputs.folder.is_dir():
            hide_below(inputs.folder, context.secrets)


def begun(inputs: TrialInputs, context: TrialContext, tell: Tell) -> TrialRecorder:
    """Return a recorder that holds what is known of a trial before anything starts."""
    case, recorder = inputs.step.case, TrialRecorder(tell)
    recorder.placement = Stay(context.places).placed()
    recorder.hard_facts = hard_facts()
    recorder.load = _load(case, context.suite_folder)
    return recorder


def failure_of(error: Exception, case: Case, folder: Path) -> Failure:
    """Return why a trial has no measurement, from what ended it. Call it where that is handled.

    Raises CannotKeep where its folder cannot be written, and the error itself for our own fault.
    """
    if isinstance(error, TrialFailed):
        disks = Path(tempfile.gettempdir()), folder
        if full := told_full(f"{error} {error.log}", *disks):
            error.message, error.hint = f"{full}: {error.message}", FREE_SOME
        return _failure(error)
    if isinstance(error, CannotKeep):
        raise error
    if isinstance(error, OutputDamaged):
        # The tool's fault unless its driver says otherwise: it is asked again.
        name = driver_label(case)
        log = last_lines(folder / f"{name}.err") or last_lines(folder / f"{name}.out")
        return Failure(
            stage="read", message=error.message, hint=error.hint, log=log, subject=error.about
        )
    if isinstance(error, OSError):
        if folder.is_dir() and error.errno not in _DISK:
            raise error
        hint = "the folder was removed, or its disk is full; choose another with -o"
        raise CannotKeep(f"{error.filename or folder}: {error.strerror}", hint) from error
    # A part cannot do what the scenario asks of it, or is faulty.
    fault = error if isinstance(error, BenchforgeError) else blamed(error)
    if fault is None:
        raise error
    return Failure(stage="start", message=fault.message, hint=fault.hint)


def trial_of(
    inputs: TrialInputs, context: TrialContext, recorder: TrialRecorder, failure: Failure | None
) -> MeasuredTrial:
    """Return what a recorder holds as a trial without secrets; its good responses are counted."""
    step, case = inputs.step, inputs.step.case
    workers = {label: service.workers_told() for _, label, service in services_of(case)}
    trial = Trial(
        number=inputs.number,
        case=case.name,
        block=step.block,
        position=step.position,
        attempt=inputs.attempt,
        seed=step.seed,
        started=recorder.began,
        seconds=time.monotonic() - recorder.begun_s,
        request=case.request,
        processes=recorder.processes,
        driver_digest=case.driven,
        workers={label: count for label, count in workers.items() if count is not None},
        fingerprint=fingerprint(recorder.hard_facts),
        changed_facts=tuple(changes(context.facts, recorder.hard_facts)),
        workers_declared=_workers_declared(case),
        **{name: getattr(recorder, name) for name in _RECORDED},
        failure=failure,
    )
    trial = redacted(_counted(trial, case.expect), context.secrets)
    return MeasuredTrial(trial, recorder.body)


def _counted(trial: Trial, expect: Expect) -> Trial:
    """Return a trial whose good responses are those that the suite expects: it has some."""
    right, stream = trial.good_response, trial.stream
    if trial.reading is None:
        return trial
    if stream is not None:
        reading = counted_kinds(trial, trial.reading, stream, limits())
    elif right is not None:
        reading = counted(trial, judged(trial.reading, expect, trial.answers), right, limits())
    else:
        return trial
    trial = trial.model_copy(update={"reading": reading})
    if trial.failure is not None:
        return trial
    try:
        believable(reading, trial.case, right)
    except TrialFailed as error:
        return trial.model_copy(update={"failure": _failure(error)})
    return trial


def _load(case: Case, suite_folder: Path) -> Load:
    load = case.driver.load()
    inputs = [case.driver.model_dump_json(), case.driver.fingerprint(suite_folder)]
    stream = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
    pairs = {(name.lower(), value.lower()) for name, value in case.request.headers.items()}
    closing = {"keep_alive": False} if ("connection", "close") in pairs else {}
    return load.model_copy(update={"options_digest": stream, **closing})


def _workers_declared(case: Case) -> tuple[str, ...]:
    """Return of whom the suite says how many they are, and who has no option to say it with."""
    labels = []
    for _, label, service in services_of(case):
        options = type(service).model_fields.keys() & set(service.shares_work)
        if not options or service.model_fields_set & options:
            labels.append(label)
    return tuple(labels)


def _failure(error: TrialFailed) -> Failure:
    return Failure(
        stage=error.stage,
        message=error.message,
        hint=error.hint,
        log=error.log,
        subject=error.about,
        broken=error.broken,
    )
