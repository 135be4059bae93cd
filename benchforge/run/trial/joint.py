"""A joint trial: the cases that take turns run at once; each has its trial."""

import contextlib
import dataclasses
import itertools
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchforge import door
from benchforge.errors import LaunchLost, TrialFailed
from benchforge.model.suite.turns import TurnsPlanned
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.trial import Failure
from benchforge.model.trial.turns import Slice, Turns
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.result_writer import entered
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.http.request import Like
from benchforge.run.locate import with_libraries
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.freeze import Freezer
from benchforge.run.trial.frozen_tool import OPENED, FrozenTool
from benchforge.run.trial.measure import (
    MeasuredTrial,
    begin,
    driver_label,
    failure_of,
    sandboxed,
    stayed,
    trial_of,
)
from benchforge.run.trial.plugin_fault import commands_of, covering
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.served import TrialInputs, WarmServices, asked_again, made_ready
from benchforge.run.trial.services import stop
from benchforge.run.trial.slices import LoadPipes, PipedTool, Turn, TurnsOfTool
from benchforge.run.watch.watched import Watched
from benchforge.stats.turns.order import (
    LEAST_OF_FROZEN,
    LEAST_OF_SEQUENTIAL,
    LEAST_REQUESTS,
    first_slice_s,
    long_enough,
    order,
    rounds_of,
)
from benchforge.suite.secrets.redact import redacted
from benchforge.text.readable import figure

_TO_END_S = 10.0


@dataclass
class _Member:
    """One of the cases that take turns."""

    inputs: TrialInputs
    story: TrialRecorder
    stay: Stay

    @property
    def name(self) -> str:
        """The label of what takes turns: a server, a client, or a whole case."""
        case = self.inputs.step.case
        if case.turns is not None and case.turns.among == "cases":
            return case.name.title
        return case.name.driver if case.driver.kind == "client" else case.name.server


@dataclass(frozen=True)
class _Up:
    """A server that is up and warm."""

    member: _Member
    sandbox: Sandbox
    there: WarmServices
    scratch: Path


@dataclass(frozen=True)
class _Ready:
    """A server that is frozen, and its load tool, which waits for its first turn."""

    member: _Member
    sandbox: Sandbox
    there: WarmServices
    turn: Turn
    counters: dict[str, int]


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
        _Member(one, story, begin(one.step.case, ground, story))
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


def _measured(members: Sequence[_Member], seed: int, ground: TrialContext) -> list[Failure | None]:
    """Measure, and return for each why it failed; where one did, no other has a measurement."""
    at = members[0]
    try:
        with contextlib.ExitStack() as places:
            up: list[_Up] = []
            for at in members:
                _held_to_the_first(at, members[0])
                up.append(_started(at, ground, places))
            with contextlib.ExitStack() as phases:
                for member in members:
                    phases.enter_context(member.story.phase("load"))
                ready: list[_Ready] = []
                for warm in up:
                    at = warm.member
                    ready.append(_frozen(warm, ground, places))
                planned = at.inputs.step.case.turns
                assert planned is not None  # noqa: S101 - else it is no joint trial
                first_s = first_slice_s(planned, len(ready), at.inputs.attempt)
                slices = []
                for server, rate in zip(ready, _rates(ready, first_s), strict=True):
                    at = server.member
                    slices.append(_slice_s(server, planned, first_s, rate, len(ready)))
                slice_s = max(slices)
                watched = [_watched(server, places) for server in ready]
                begun_s = time.monotonic()
                rounds = rounds_of(slice_s, planned.each_s)
                for number, indices in enumerate(order(seed, len(ready), rounds), 1):
                    for index in indices:
                        at = ready[index].member
                        ready[index].turn.run(number, slice_s, begun_s)
                finished = []
                for server, parts in zip(ready, watched, strict=True):
                    at = server.member
                    finished.append(_ended(server, parts, ready, seed, slice_s))
            for server, of_tool in zip(ready, finished, strict=True):
                at = server.member
                stayed(at.stay, at.story)
                asked_again(server.sandbox, at.inputs, ground, server.there, (of_tool,), at.story)
            _stop(ready)
    except Exception as error:  # noqa: BLE001 - raised again where it is nobody's but ours
        failure = failure_of(error, at.inputs.step.case, at.inputs.folder)
        return [failure if server is at else None for server in members]
    return [None] * len(members)


def _stop(ready: Sequence[_Ready]) -> None:
    """Stop all services of all servers; they end together, since some take seconds to end."""
    for server in ready:
        server.sandbox.signal_others(signal.SIGTERM, server.turn.tool.loader)
    for server in ready:
        with server.member.story.phase("stop"):
            stop(server.sandbox, server.there.services)


def _held_to_the_first(member: _Member, first: _Member) -> None:
    """With same_body, let each answer be that of the first, where no earlier trial has one."""
    body = first.story.body
    if member.inputs.like is None and body is not None and member.inputs.step.case.expect.same_body:
        member.inputs = dataclasses.replace(member.inputs, like=Like(first.name, body))


def _lost(culprit: str, failure: Failure) -> Failure:
    """Return why a server has no measurement whose opponent failed."""
    message = f"the launch was lost for all that took turns: {failure.message}"
    hint = f"see the trial of {culprit}"
    return Failure(stage="drive", message=message, hint=hint, subject=failure.subject)


def _all_or_none(
    measured: Sequence[MeasuredTrial], members: Sequence[_Member]
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


def _started(member: _Member, ground: TrialContext, places: contextlib.ExitStack) -> _Up:
    """Start a server with all that it needs."""
    inputs, story = member.inputs, member.story
    scratch = places.enter_context(scratch_folder())
    sandbox = places.enter_context(sandboxed(inputs, ground, scratch, story))
    if sandbox.mode.network != "private":
        message = "servers cannot take turns: this machine gives their trials no private network"
        raise TrialFailed("start", message, 'set interleave = "off"')
    there = made_ready(sandbox, inputs, ground, scratch, story)
    return _Up(member, sandbox, there, scratch)


def _frozen(up: _Up, ground: TrialContext, places: contextlib.ExitStack) -> _Ready:
    """Freeze a server, and start its load tool, which waits for its first turn."""
    member, sandbox, scratch = up.member, up.sandbox, up.scratch
    folder, driver = scratch / "turns", covering(member.inputs.step.case.driver)
    there = dataclasses.replace(up.there, target=dataclasses.replace(up.there.target, turns=folder))
    counters = sandbox.counters()
    tool: TurnsOfTool
    if driver.interrupted_by is None:
        pipes = LoadPipes(folder)
        places.callback(pipes.close)
        loader = _loader(member, driver, sandbox, there, ground)
        tool = PipedTool(sandbox, loader, pipes)
    else:
        _by_bytes(there)
        opened = sandbox.counters().get(OPENED, 0)
        loader = _loader(member, driver, sandbox, there, ground)
        tool = FrozenTool(sandbox, loader, driver, opened, _length(member.story.answers[-1]))
    freezer = Freezer(sandbox, loader)
    freezer.freeze()
    return _Ready(member, sandbox, there, Turn(tool, freezer), counters)


def _length(answer: Answer) -> int:
    """Return how many bytes an answer has on the wire."""
    return (answer.header_bytes or 0) + (answer.wire_bytes or answer.length)


def _by_bytes(there: WarmServices) -> None:
    """Raise TrialFailed where the bytes that a load tool reads are not those of responses."""
    if there.target.url.startswith("https:"):
        message = "what a load tool reads over TLS tells no number of responses"
        raise TrialFailed("drive", message, 'use = "pace", or set interleave = "off"')


def _loader(
    member: _Member, driver: Driver, sandbox: Sandbox, there: WarmServices, ground: TrialContext
) -> Running:
    target = there.target
    for name, text in driver.files(target).items():
        door.write(target.folder, name, text.encode(), lasting=False, mode=door.OWN)
    (command,) = commands_of(driver, target)
    command, label = with_libraries(command), driver_label(member.inputs.step.case)
    loader = sandbox.start(label, command, target.folder, {}, ground.places.get("loader"))
    member.story.runs(command, loader)
    return loader


def _rates(ready: Sequence[_Ready], length_s: float) -> list[float]:
    """Return the rate of each in a slice that does not count.

    The slice before it opens the connections.
    """
    for server in ready:
        server.turn.rate(length_s)
    rates = [server.turn.rate(length_s) for server in ready]
    for server in ready:
        server.turn.anew()
    return rates


def _slice_s(
    server: _Ready, planned: TurnsPlanned, first_s: float, rate: float, members: int
) -> float:
    """Return how long a slice takes for a server to have enough requests in it.

    Raises LaunchLost.
    """
    least = _least(server)
    slice_s = long_enough(first_s, rate, members, least)
    if slice_s is None:
        raise LaunchLost(
            "drive",
            f"{server.member.name}: {figure(rate)} responses/s are too few for turns of "
            f"{members} {planned.among}: a slice needs {least}, or it would be too long",
            'set interleave = "off" in this scenario, use more connections, or compare fewer '
            f"{planned.among} at once",
        )
    return slice_s


def _least(server: _Ready) -> int:
    """Return how many requests a slice needs at least."""
    load = server.member.story.load
    if load is not None and load.concurrency == 1:
        return LEAST_OF_SEQUENTIAL
    return LEAST_OF_FROZEN if isinstance(server.turn.tool, FrozenTool) else LEAST_REQUESTS


def _watched(server: _Ready, places: contextlib.ExitStack) -> list[Watched]:
    """Look at each service before the slices that count: its signs, and the size of its logs."""
    return [
        places.enter_context(contextlib.closing(Watched(server.sandbox, s.name, s.role, s.running)))
        for s in server.there.services
        if s.running is not None
    ]


def _ended(
    server: _Ready, parts: Sequence[Watched], ready: Sequence[_Ready], seed: int, slice_s: float
) -> Finished:
    """End a load tool, and note what its server did in its turns."""
    story, turn = server.member.story, server.turn
    alive = [frozenset(server.sandbox.processes(part.running)) for part in parts]
    slices = tuple(turn.slices)
    pauses = [after.start_s - before.end_s for before, after in itertools.pairwise(slices)]
    finished = turn.end(_TO_END_S)
    story.turns = Turns(
        trials=tuple(other.member.inputs.number for other in ready),
        seed=seed,
        slice_s=slice_s,
        cpus=len(os.sched_getaffinity(0)),
        rounds=len(slices),
        slices=slices,
        frozen_s=sum(pauses),
        frozen_cpu_s=turn.freezer.frozen_cpu_s,
        longest_freeze_s=max(pauses, default=0.0),
        uncounted_bytes=getattr(turn.tool, "uncounted_bytes", None),
    )
    story.observation = _observation(server, parts, alive, slices)
    return finished


def _observation(
    server: _Ready,
    parts: Sequence[Watched],
    alive: Sequence[frozenset[int]],
    slices: Sequence[Slice],
) -> Observation:
    """Return what was seen in the slices; what only a load without pauses tells is unknown."""
    why, alone = "in turns: not looked at between slices", len(parts) == 1
    usage = []
    for part, after in zip(parts, alive, strict=True):
        server.member.stay.look(part.label, part.role, after)
        seen = {
            "cpu_s": sum(slice_.cpu_s for slice_ in slices) if alone else None,
            "processes": len(after),
            "ended_processes": len({*part.part.pids} - after),
            "new_processes": len(after.difference(part.part.pids)),
            "why": why if alone else f"{why}, and its CPU time is counted with that of others",
        }
        usage.append(part.facts().model_copy(update=seen))
    label, loader_s = server.turn.tool.loader.label, sum(slice_.loader_cpu_s for slice_ in slices)
    server.member.stay.look(label, "loader", server.sandbox.processes(server.turn.tool.loader))
    usage.append(
        Usage(
            label=label,
            role="loader",
            cpu_s=loader_s,
            peak_pss_bytes=None,
            busiest_thread_cpu_s=loader_s,
            why=why,
        )
    )
    counters = server.sandbox.counters()
    grown = {name: count - server.counters.get(name, 0) for name, count in counters.items()}
    talkative = "" if alone else "the server's own connections may be counted too"
    return Observation(
        seconds=sum(slice_.seconds for slice_ in slices),
        usage=tuple(usage),
        network=server.sandbox.mode.network,
        counters={name: count for name, count in grown.items() if count > 0},
        foreign_connections=talkative,
        sampler_cpu_s=server.turn.own_cpu_s,
    )
