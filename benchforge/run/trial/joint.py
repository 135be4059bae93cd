"""A joint trial: the cases that take turns run at once; each has its trial."""

import dataclasses
from collections.abc import Callable, Sequence

from benchforge.model.trial.trial import Failure
from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.result_writer import entered
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.launch import Launch, Member
from benchforge.run.trial.measure import MeasuredTrial, begin, failure_of, trial_of
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.served import TrialInputs
from benchforge.suite.secrets.redact import redacted


def measure_jointly(
    members: Sequence[TrialInputs],
    seed: int,
    ground: TrialContext,
    tell: Callable[[str], None] = lambda _: None,
) -> list[MeasuredTrial]:
    """Run the trials of servers that take turns; `seed` is that of their order.

    Where one fails, none has a measurement: the others lack their opponent. `tell` hears the name
    of each phase, and nothing between the first slice and the last. Raises CannotKeep alone.
    """
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
        inputs = launch.at.inputs
        failure = failure_of(error, inputs.step.case, inputs.folder)
        return [failure if member is launch.at else None for member in members]
    return [None] * len(members)


def _lost(culprit: str, failure: Failure) -> Failure:
    """Return why a server has no measurement whose opponent failed."""
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
            without = [
                {**nothing, "failure": one.trial.failure or _lost(culprit.name, wrong)}
                for one in measured
            ]
            return [
                dataclasses.replace(one, trial=one.trial.model_copy(update=update))
                for one, update in zip(measured, without, strict=True)
            ]
    return list(measured)
