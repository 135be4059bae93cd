"""A joint trial: the cases that take turns run at once; each has its trial."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from benchforge.model.trial.trial import Failure, Trial
from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.result_writer import entered
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.launch import Launch, Member
from benchforge.run.trial.measure import MeasuredTrial, begin, failure_of, trial_of
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.served import TrialInputs
from benchforge.stats.summary.groups import Identity, identity
from benchforge.suite.secrets.redact import redacted


def measure_jointly(
    members: Sequence[TrialInputs],
    seed: int,
    ground: TrialContext,
    tell: Callable[[str], None] = lambda _: None,
    left_out: Mapping[Identity, Failure] = MappingProxyType({}),
) -> list[MeasuredTrial]:
    """Run the trials of servers that take turns; `seed` is that of their order.

    Where one fails, none has a measurement: the others lack their opponent. What is `left_out`,
    since it did not start before, is not started: its trial has that reason. `tell` hears the name
    of each phase, and nothing between the first slice and the last. Raises CannotKeep alone.
    """
    failures = [left_out.get(identity(one.step.case.name)) for one in members]
    going = [one for one, failure in zip(members, failures, strict=True) if failure is None]
    if len(going) == 1 and (failure := next(filter(None, failures), None)):
        alone, going = _lost("the others", failure), []  # nobody takes turns with it
        failures = [failure or alone for failure in failures]
    launched = iter(_launched(going, seed, ground, tell) if going else ())
    return [
        next(launched) if failure is None else _unstarted(one, ground, failure)
        for one, failure in zip(members, failures, strict=True)
    ]


def _unstarted(server: TrialInputs, ground: TrialContext, failure: Failure) -> MeasuredTrial:
    """Return the trial of a server that is not started, with its reason."""
    server = dataclasses.replace(server, folder=entered(server.folder))
    story = TrialRecorder(lambda _: None)
    begin(server.step.case, ground, story)
    measured = trial_of(server, ground, story, failure)
    return MeasuredTrial(redacted(measured.trial, ground.secrets), None)


def _launched(
    members: Sequence[TrialInputs], seed: int, ground: TrialContext, tell: Callable[[str], None]
) -> list[MeasuredTrial]:
    resolved = [dataclasses.replace(one, folder=entered(one.folder)) for one in members]
    stories = [TrialRecorder(tell) for _ in members]
    for story in stories:
        story.began, story.begun_s = stories[0].began, stories[0].begun_s
    there = [
        Member(one, story, begin(one.step.case, ground, story))
        for one, story in zip(resolved, stories, strict=True)
    ]
    try:
        failures = _measured(there, seed, ground)
        measured = [
            trial_of(member.inputs, ground, member.story, failure)
            for member, failure in zip(there, failures, strict=True)
        ]
    finally:
        for server in members:
            if server.folder.is_dir():
                hide_below(server.folder, ground.secrets)
    return [
        MeasuredTrial(redacted(server.trial, ground.secrets), server.body)
        for server in _all_or_none(measured, there)
    ]


def _measured(members: Sequence[Member], seed: int, ground: TrialContext) -> list[Failure | None]:
    """Measure, and return for each why it failed; where one did, no other has a measurement."""
    launch = Launch(members, ground)
    try:
        launch.run(seed)
    except Exception as error:  # noqa: BLE001 - raised again where it is nobody's but ours
        errors: Mapping[int, Exception] = launch.unready or {launch.at.inputs.number: error}
        return [_failure_of(member, errors.get(member.inputs.number)) for member in members]
    return [None] * len(members)


def _failure_of(member: Member, error: Exception | None) -> Failure | None:
    inputs = member.inputs
    return None if error is None else failure_of(error, inputs.step.case, inputs.folder)


def unready(trial: Trial) -> bool:
    """Return True if a server in turns did not become ready: a launch without it may be whole."""
    failure = trial.failure
    own = failure is not None and failure.subject == "behaviour" and failure.stage != "drive"
    return own and "load" not in trial.phases


def _lost(culprit: str, failure: Failure) -> Failure:
    """Return why a server has no measurement whose opponent failed.

    Another launch may be whole where it is one without the opponent.
    """
    message = f"the launch was lost for all that took turns: {failure.message}"
    hint = f"see the trial of {culprit}"
    return Failure(stage="drive", message=message, hint=hint, subject=failure.subject)


def _all_or_none(
    measured: Sequence[MeasuredTrial], members: Sequence[Member]
) -> list[MeasuredTrial]:
    """Return the trials; where one failed, none has a measurement."""
    for culprit, of_it in zip(members, measured, strict=True):
        if (wrong := of_it.trial.failure) is not None:
            nothing = {"turns": None, "reading": None, "observation": None}
            lost = _lost(culprit.name, wrong)
            ready = sum(one.trial.failure is None for one in measured)
            if unready(of_it.trial) and ready > 1:
                again = f"{culprit.name} did not start: measured again without it"
                lost = lost.model_copy(update={"subject": "apparatus", "message": again})
            without = [{**nothing, "failure": one.trial.failure or lost} for one in measured]
            return [
                dataclasses.replace(one, trial=one.trial.model_copy(update=update))
                for one, update in zip(measured, without, strict=True)
            ]
    return list(measured)
