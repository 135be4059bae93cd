"""A launch: what takes turns starts together, has its slices, and ends together."""

import contextlib
import itertools
import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchforge import door
from benchforge.errors import LaunchLost, TrialFailed
from benchforge.model.suite.turns import TurnsPlanned
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.turns import Slice, Turns
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.http.request import Like
from benchforge.run.locate import with_libraries
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.freeze import Freezer
from benchforge.run.trial.frozen_tool import OPENED, FrozenTool
from benchforge.run.trial.measure import driver_label, sandboxed, stayed
from benchforge.run.trial.plugin_fault import commands_of, covering
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.served import TrialInputs, WarmServices, asked_again, making_ready
from benchforge.run.trial.services import Steps, stop
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
from benchforge.text.readable import figure

_TO_END_S = 10.0


@dataclass
class Member:
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

    member: Member
    sandbox: Sandbox
    there: WarmServices
    scratch: Path


@dataclass(frozen=True)
class _Ready:
    """A server that is frozen, and its load tool, which waits for its first turn."""

    member: Member
    sandbox: Sandbox
    there: WarmServices
    turn: Turn
    counters: dict[str, int]


class Launch:
    """Cases that take turns. `at` is the current one: the culprit, where something fails."""

    def __init__(self, members: Sequence[Member], ground: TrialContext) -> None:
        self.at = members[0]
        self.unready: dict[int, TrialFailed] = {}
        "Why a server did not become ready, by the number of its trial."
        self._members = members
        self._ground = ground

    @property
    def _planned(self) -> TurnsPlanned:
        """How they take turns: all alike."""
        planned = self.at.inputs.step.case.turns
        assert planned is not None  # noqa: S101 - else it is no launch
        return planned

    def run(self, seed: int) -> None:
        """Measure all; `seed` is that of the order of their slices. Raises what a trial raises."""
        with contextlib.ExitStack() as places:
            up = self._started(places)
            with contextlib.ExitStack() as phases:
                for member in self._members:
                    phases.enter_context(member.story.phase("load"))
                ready = self._frozen(up, places)
                slice_s = self._slice_s(ready)
                watched = [_watched(server, places) for server in ready]
                self._take_turns(ready, seed, slice_s)
                finished = self._ended(ready, watched, seed, slice_s)
            for server, of_tool in zip(ready, finished, strict=True):
                at = self.at = server.member
                stayed(at.stay, at.story)
                there = server.there
                asked_again(server.sandbox, at.inputs, self._ground, there, (of_tool,), at.story)
            _stop(ready)

    def _started(self, places: contextlib.ExitStack) -> list[_Up]:
        """Start all servers at the same time: while one becomes ready, the next ones start.

        Raises the first failure once all have started or failed, so that each is known.
        """
        up: dict[int, _Up] = {}
        waiting = deque((member, self._starting(member, places)) for member in self._members)
        for _, steps in waiting:
            places.callback(steps.close)  # where another one fails
        while waiting:
            self.at, steps = waiting.popleft()
            try:
                next(steps)
                waiting.append((self.at, steps))
            except StopIteration as end:
                up[self.at.inputs.number] = end.value
            except TrialFailed as error:
                if error.about == "apparatus":
                    raise
                self.unready[self.at.inputs.number] = error
        if self.unready:
            raise next(iter(self.unready.values()))
        return [up[member.inputs.number] for member in self._members]

    def _starting(self, member: Member, places: contextlib.ExitStack) -> Steps[_Up]:
        """Start a server with all that it needs, and pause for the others after each process."""
        inputs, story, ground = member.inputs, member.story, self._ground
        scratch = places.enter_context(scratch_folder())
        sandbox = places.enter_context(sandboxed(inputs, ground, scratch, story))
        if sandbox.mode.network != "private":
            message = (
                "servers cannot take turns: this machine gives their trials no private network"
            )
            raise TrialFailed("start", message, 'set interleave = "off"')
        there = yield from making_ready(
            *(sandbox, inputs, ground, scratch, story),
            like=lambda: _like(member, self._members[0]),
            at_once=len(self._members),
        )
        return _Up(member, sandbox, there, scratch)

    def _frozen(self, up: Sequence[_Up], places: contextlib.ExitStack) -> list[_Ready]:
        ready: list[_Ready] = []
        for server in up:
            self.at = server.member
            ready.append(_frozen(server, self._ground, places))
        return ready

    def _slice_s(self, ready: Sequence[_Ready]) -> float:
        """Return the length of the slices, in seconds: the slowest server needs the longest."""
        planned = self._planned
        first_s = first_slice_s(planned, len(ready), self.at.inputs.attempt)
        slices = []
        for server, rate in zip(ready, _rates(ready, first_s), strict=True):
            self.at = server.member
            slices.append(_slice_s(server, planned, first_s, rate, len(ready)))
        return max(slices)

    def _take_turns(self, ready: Sequence[_Ready], seed: int, slice_s: float) -> None:
        begun_s = time.monotonic()
        rounds = rounds_of(slice_s, self._planned.each_s)
        for number, indices in enumerate(order(seed, len(ready), rounds), 1):
            for index in indices:
                self.at = ready[index].member
                ready[index].turn.run(number, slice_s, begun_s)

    def _ended(
        self,
        ready: Sequence[_Ready],
        watched: Sequence[Sequence[Watched]],
        seed: int,
        slice_s: float,
    ) -> list[Finished]:
        for server in ready:  # each takes a tenth of a second
            self.at = server.member
            server.turn.tool.ask_to_end()
        finished = []
        for server, parts in zip(ready, watched, strict=True):
            self.at = server.member
            finished.append(_ended(server, parts, ready, seed, slice_s))
        return finished


def _stop(ready: Sequence[_Ready]) -> None:
    """Stop all services of all servers; they end together, since some take seconds to end."""
    for server in ready:
        for serving in server.there.services:
            if serving.running is not None:
                server.sandbox.signal(serving.running, serving.part.stop_signal)
    for server in ready:
        with server.member.story.phase("stop"):
            stop(server.sandbox, server.there.services)


def _like(member: Member, first: Member) -> Like | None:
    """Return what an answer must equal: with same_body the first, or an earlier trial's."""
    body, inputs = first.story.body, member.inputs
    if inputs.like is None and body is not None and inputs.step.case.expect.same_body:
        return Like(first.name, body)
    return inputs.like


def _frozen(up: _Up, ground: TrialContext, places: contextlib.ExitStack) -> _Ready:
    """Freeze a server, and start its load tool, which waits for its first turn."""
    member, sandbox, scratch = up.member, up.sandbox, up.scratch
    folder, driver = scratch / "turns", covering(member.inputs.step.case.driver)
    there = replace(up.there, target=replace(up.there.target, turns=folder))
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
    member: Member, driver: Driver, sandbox: Sandbox, there: WarmServices, ground: TrialContext
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
