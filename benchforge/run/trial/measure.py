"""Measuring a trial in a place of its own; whatever ends it, what is known stays in its record."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.result_writer import entered
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.machine import placement, quiet
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.inputs import MeasuredTrial, TrialInputs
from benchforge.run.trial.outcome import begun, failure_of, trial_of
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.scope import TrialScope, trial_scope
from benchforge.run.trial.stages.order import ALONE, LocalWay, run
from benchforge.run.trial.stages.start import stop
from benchforge.suite.secrets.redact import redacted

Tell = Callable[[str], None]


def measure(
    inputs: TrialInputs, context: TrialContext, tell: Tell = lambda _: None
) -> MeasuredTrial:
    """Run one trial in its folder, once it is quiet or its spare seconds are over.

    `tell` hears the name of each phase, and nothing during the load. What fails is in the trial;
    only CannotKeep is raised. Secrets are in none of what is returned, and once it is, in none of
    the folder's files.
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
    _wait_for_quiet(resolved, context, recorder)
    return measured_together([(resolved, recorder)], context, lambda _: ALONE)[0]


def measured_together(
    trials: Sequence[tuple[TrialInputs, TrialRecorder]],
    context: TrialContext,
    way: Callable[[Sequence[TrialScope]], LocalWay],
) -> list[MeasuredTrial]:
    """Measure trials that run together, or one alone, and return them without secrets.

    What fails is in the trial whose fault it is. Raises CannotKeep, and what is a fault of our own.
    """
    recorders = [recorder for _, recorder in trials]
    try:
        try:
            with contextlib.ExitStack() as places:
                scopes = [_opened(places, *trial, context) for trial in trials]
                run(way(scopes), scopes)
                stop(scopes)
        except Exception as error:  # noqa: BLE001 - raised again where it is nobody's but ours
            if all(recorder.error is None for recorder in recorders):
                recorders[0].error = error
        measured = [_ended(*trial, context) for trial in trials]
    finally:
        _hide([inputs for inputs, _ in trials], context)
    return [replace(one, trial=redacted(one.trial, context.secrets)) for one in measured]


def _opened(
    places: contextlib.ExitStack,
    inputs: TrialInputs,
    recorder: TrialRecorder,
    context: TrialContext,
) -> TrialScope:
    with recorder.blamed():
        scratch = places.enter_context(scratch_folder())
        return places.enter_context(trial_scope(inputs, context, recorder, scratch))


def _ended(inputs: TrialInputs, recorder: TrialRecorder, context: TrialContext) -> MeasuredTrial:
    case, failure = inputs.step.case, None
    if recorder.error is not None:
        failure = failure_of(recorder.error, case, inputs.folder)
    if recorder.placed is not None and recorder.observation is not None:
        usage = recorder.observation.usage
        labels = [part.label for part in usage if part.role in recorder.placed.cpus]
        recorder.checks.append(placement.check(recorder.placed, labels))
    return trial_of(inputs, context, recorder, failure)


def _hide(trials: Sequence[TrialInputs], context: TrialContext) -> None:
    for inputs in trials:
        if inputs.folder.is_dir():
            hide_below(inputs.folder, context.secrets)


def _wait_for_quiet(inputs: TrialInputs, context: TrialContext, recorder: TrialRecorder) -> None:
    load_s = inputs.step.case.declared_s
    most_s = quiet.at_most_s(context.quiet, load_s, inputs.spare_s)
    if most_s is not None:
        with recorder.phase("quiet"):
            foreign = quiet.until_quiet(most_s)
        recorder.checks.append(quiet.check(foreign))
