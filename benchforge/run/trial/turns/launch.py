"""A launch: trials that take turns; where one of them fails, none has a measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchforge.model.trial.trial import Failure, Trial
from benchforge.model.values.case_name import Identity, identity
from benchforge.run.disk.result_writer import entered
from benchforge.run.trial.context import MeasuredTrial, TrialContext, TrialInputs
from benchforge.run.trial.measure import Tell, begun, measured_together, trial_of
from benchforge.run.trial.turns.load import in_turns, turn_name

LeftOut = Mapping[Identity, Failure]
"Failures of servers that are not started again."


def measure_in_turns(
    trials: Sequence[TrialInputs], seed: int, context: TrialContext, tell: Tell, left_out: LeftOut
) -> list[MeasuredTrial]:
    """Run the trials of servers that take turns; `seed` is that of their order.

    Where one fails, none has a measurement. Servers that are `left_out` are not started: their
    trials have that failure. `tell` hears each phase, and nothing between the first slice and the
    last. Raises CannotKeep alone.
    """
    trials = [replace(inputs, folder=entered(inputs.folder)) for inputs in trials]
    failures = [left_out.get(identity(inputs.step.case.name)) for inputs in trials]
    going = [inputs for inputs, failure in zip(trials, failures, strict=True) if failure is None]
    if len(going) == 1 and (failure := next(filter(None, failures), None)):
        alone, going = _lost("the others", failure), []  # nobody takes turns with it
        failures = [failure or alone for failure in failures]
    launched = iter(_launched(going, seed, context, tell) if going else ())
    measured = []
    for inputs, failure in zip(trials, failures, strict=True):
        if failure is None:
            measured.append(next(launched))
        else:
            recorder = begun(inputs, context, lambda _: None)
            measured.append(trial_of(inputs, context, recorder, failure))
    return measured


def _launched(
    trials: Sequence[TrialInputs], seed: int, context: TrialContext, tell: Tell
) -> list[MeasuredTrial]:
    members = [replace(inputs, at_once=len(trials)) for inputs in trials]
    recorders = [begun(inputs, context, tell) for inputs in members]
    for recorder in recorders:
        recorder.began, recorder.begun_s = recorders[0].began, recorders[0].begun_s
    pairs = [*zip(members, recorders, strict=True)]
    names = [turn_name(inputs.step.case) for inputs in members]
    return _all_or_none(names, measured_together(pairs, context, partial(in_turns, seed)))


def unready(trial: Trial) -> bool:
    """Return True if a server in turns did not become ready: a launch without it may be whole."""
    failure = trial.failure
    if failure is None or failure.subject != "behaviour" or failure.stage == "drive":
        return False
    return trial.phases.keys().isdisjoint({"freeze", "load"})


def _lost(culprit: str, failure: Failure) -> Failure:
    """Return why a server has no measurement whose opponent failed; another launch may be whole."""
    message = f"the launch was lost for all that took turns: {failure.message}"
    hint = f"see the trial of {culprit}"
    return Failure(stage="drive", message=message, hint=hint, subject=failure.subject)


def _all_or_none(names: Sequence[str], measured: Sequence[MeasuredTrial]) -> list[MeasuredTrial]:
    failures = [each.trial.failure for each in measured]
    culprit = next((n for n, failure in enumerate(failures) if failure is not None), None)
    if culprit is None or (failure := failures[culprit]) is None:
        return [*measured]
    lost = _lost(names[culprit], failure)
    if unready(measured[culprit].trial) and failures.count(None) > 1:
        again = f"{names[culprit]} did not start: measured again without it"
        lost = lost.model_copy(update={"subject": "apparatus", "message": again})
    nothing = {"turns": None, "reading": None, "observation": None}
    updates = [{**nothing, "failure": failure or lost} for failure in failures]
    pairs = zip(measured, updates, strict=True)
    return [replace(each, trial=each.trial.model_copy(update=update)) for each, update in pairs]
