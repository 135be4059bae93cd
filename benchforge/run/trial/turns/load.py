"""Load in turns: all servers are frozen, and each runs in its slices alone."""

import contextlib
import itertools
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from benchforge.errors import LaunchLost, TrialFailed
from benchforge.model.suite.until import TurnsPlanned
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.turns import Slice, Turns
from benchforge.parts.fault import commands_of, covering
from benchforge.parts.part import Driver
from benchforge.parts.site import Target
from benchforge.run.http.request import Like
from benchforge.run.sandbox.sandbox import Running
from benchforge.run.trial.scope import Serving, Steps, TrialScope, driver_label
from benchforge.run.trial.stages.after import look_after
from benchforge.run.trial.stages.ask import AnsweringServer, ask
from benchforge.run.trial.stages.load import LoadedServer
from benchforge.run.trial.stages.order import ALONE, LocalWay
from benchforge.run.trial.stages.start import start
from benchforge.run.trial.stages.warm_up import WarmServer
from benchforge.run.trial.stages.windows import in_first_slice, in_slices
from benchforge.run.trial.turns.freeze import Freezer
from benchforge.run.trial.turns.slices import Turn, UncountedSlice
from benchforge.run.trial.turns.tools import OPENED, FrozenTool, PipedTool
from benchforge.run.watch.sampler import uncollected
from benchforge.run.watch.watched import Watched
from benchforge.stats import turns
from benchforge.suite.cases.case import Case
from benchforge.text import door
from benchforge.text.readable import figure

_TO_END_S = 10.0
_OPENING_S = 0.1  # of a slice that opens connections


@dataclass(frozen=True)
class _Frozen:
    """A server that is frozen, and its load tool, which waits for its first turn."""

    scope: TrialScope
    loaded: LoadedServer
    turn: Turn
    counters: dict[str, int]


def in_turns(seed: int, scopes: Sequence[TrialScope]) -> LocalWay:
    """Return how trials run that take turns; `seed` is that of the order of their slices."""
    first = scopes[0]

    def ask_as_first(scope: TrialScope, services: list[Serving]) -> AnsweringServer:
        body, like = first.recorder.body, scope.inputs.like
        if like is None and body is not None and scope.case.expect.same_body:
            like = Like(turn_name(first.case), body)
        return ask(scope, services, like)

    return replace(ALONE, start=_start, ask=ask_as_first, load=partial(_take_turns, seed))


def turn_name(case: Case) -> str:
    """Return the label of what takes turns: a server, a client, or a case as a whole."""
    if case.turns is not None and case.turns.among == "cases":
        return case.name.title
    return case.name.driver if case.driver.kind == "client" else case.name.server


def _start(scope: TrialScope) -> Steps[list[Serving]]:
    if scope.sandbox.mode.network != "private":
        message = "servers cannot take turns: this machine gives their trials no private network"
        raise TrialFailed("start", message, 'set interleave = "off"')
    return (yield from start(scope))


def _take_turns(
    seed: int, scopes: Sequence[TrialScope], warm: Sequence[WarmServer]
) -> list[LoadedServer]:
    """Freeze all servers, and let each run in its slices alone; the stage `load` of turns."""
    with contextlib.ExitStack() as places:
        places.enter_context(uncollected())
        scopes[0].recorder.tell("load")  # and of the slices that count nothing until they are over
        with _phase(scopes, "freeze"):
            frozen = []
            for scope, warm_server in zip(scopes, warm, strict=True):
                with scope.recorder.blamed():
                    frozen.append(_frozen(scope, warm_server, places))
        with _phase(scopes, "rates"):
            slice_s = _longest_slice_s(frozen)
        watched = [_watched(server, places) for server in frozen]
        with _phase(scopes, "load"):
            _run_slices(frozen, seed, slice_s)
        servers = _servers(frozen, watched)
        with _phase(scopes, "end"):
            for server in frozen:  # each takes a tenth of a second
                with server.scope.recorder.blamed():
                    server.turn.tool.ask_to_end()
            loaded = []
            for server, parts in zip(frozen, watched, strict=True):
                with server.scope.recorder.blamed():
                    loaded.append(_ended(server, parts, frozen, (seed, slice_s)))
        look_after(servers)
    return loaded


@contextlib.contextmanager
def _phase(scopes: Sequence[TrialScope], name: str) -> Iterator[None]:
    with contextlib.ExitStack() as phases:
        for scope in scopes:
            phases.enter_context(scope.recorder.phase(name, tells=False))
        yield


def _longest_slice_s(frozen: Sequence[_Frozen]) -> float:
    """Return the length of the slices, in seconds; from here on all is counted anew."""
    inputs = frozen[0].scope.inputs
    first_s = turns.first_slice_s(_planned(frozen[0]), len(frozen), inputs.attempt)
    slices, firsts = [], _first_slices(frozen, first_s)
    for server, first in zip(frozen, firsts, strict=True):
        with server.scope.recorder.blamed():
            slices.append(_slice_s(server, first_s, first.rate, len(frozen)))
    slice_s = max(slices)
    for server, first in zip(frozen, firsts, strict=True):
        with server.scope.recorder.blamed():
            if inputs.step.block == 1 and _waits(server, first, slice_s):
                server.scope.recorder.tell("slices of other lengths, since it waits")
                server.turn.probe(slice_s, rest_s=(len(frozen) - 1) * slice_s)
            server.turn.anew()
    return slice_s


def _waits(server: _Frozen, first: UncountedSlice, slice_s: float) -> bool:
    load = server.scope.recorder.load
    if load is None or not load.concurrency:
        return False
    waits_s = turns.waiting_s(load.concurrency, first.rate, first.busy_s / first.seconds)
    # One slice is a guess: what seems to wait half as long as what matters is tried, too.
    return waits_s > turns.SMALL * slice_s / 2


def _planned(server: _Frozen) -> TurnsPlanned:
    planned = server.scope.case.turns
    assert planned is not None  # noqa: S101 - else it is no launch
    return planned


def _run_slices(frozen: Sequence[_Frozen], seed: int, slice_s: float) -> None:
    begun_s = time.monotonic()
    rounds = turns.rounds_of(slice_s, _planned(frozen[0]).each_s)
    moments = [in_slices(server.scope, rounds, slice_s) for server in frozen]
    for server in frozen:
        server.scope.recorder.load_began_s = begun_s
    for number, indices in enumerate(turns.order(seed, len(frozen), rounds), 1):
        for index in indices:
            of_slices, window_s = moments[index]
            windows = frozen[index].loaded.warm.windows
            # A window is closed in a thread, which takes milliseconds: the freeze waits for none.
            opened = windows.during("load", of_slices[number - 1], window_s)
            with frozen[index].scope.recorder.blamed(), opened:
                frozen[index].turn.run(number, slice_s, begun_s)


def _frozen(scope: TrialScope, warm: WarmServer, places: contextlib.ExitStack) -> _Frozen:
    """Freeze a server, and start its load tool, which waits for its first turn."""
    sandbox, folder = scope.sandbox, scope.scratch / "turns"
    driver, target = covering(scope.case.driver), replace(warm.target, turns=folder)
    counters = sandbox.counters()
    tool: PipedTool | FrozenTool
    if driver.interrupted_by is None:
        tool = PipedTool(sandbox, folder)
        places.callback(tool.close)
        tool.loader = _tool_started(scope, driver, target)
    elif target.url.startswith("https:"):
        message = "the bytes that a load tool reads over TLS are not those of responses"
        raise TrialFailed("drive", message, 'use = "pace", or set interleave = "off"')
    else:
        opened = sandbox.counters().get(OPENED, 0)
        loader, answer = _tool_started(scope, driver, target), scope.recorder.answers[-1]
        wire_bytes = answer.wire_bytes or (answer.header_bytes or 0) + answer.length
        tool = FrozenTool(sandbox, loader, driver, opened, wire_bytes)
    freezer = Freezer(sandbox, tool.loader)
    freezer.freeze()
    return _Frozen(scope, LoadedServer(warm, target, ()), Turn(tool, freezer), counters)


def _tool_started(scope: TrialScope, driver: Driver, target: Target) -> Running:
    for name, text in driver.files(target).items():
        door.write(target.folder, name, text.encode(), lasting=False, mode=door.OWN)
    (command,) = commands_of(driver, target)
    cpus = scope.context.places.get("loader")
    loader = scope.sandbox.start(driver_label(scope.case), command, target.folder, {}, cpus)
    scope.recorder.runs(loader)
    return loader


def _first_slices(frozen: Sequence[_Frozen], length_s: float) -> list[UncountedSlice]:
    """Return a slice of each that does not count; the one before it opens the connections."""
    slices: list[UncountedSlice] = []
    for number, server in enumerate((*frozen, *frozen)):
        windows = server.loaded.warm.windows
        slice_s = length_s if number >= len(frozen) else min(length_s, _OPENING_S)
        moments_s, window_s = in_first_slice(server.scope, number, slice_s)
        with server.scope.recorder.blamed(), windows.during("around", moments_s, window_s):
            slices.append(server.turn.uncounted(slice_s))
    return slices[len(frozen) :]


def _slice_s(server: _Frozen, first_s: float, rate: float, members: int) -> float:
    """Return how long a slice takes that has enough requests. Raises LaunchLost."""
    least, among = _least(server), _planned(server).among
    slice_s = turns.long_enough(first_s, rate, members, least)
    if slice_s is None:
        raise LaunchLost(
            "drive",
            f"{turn_name(server.scope.case)}: {figure(rate)} responses/s are too few for turns of "
            f"{members} {among}: a slice needs {least}, or it would be too long",
            'set interleave = "off" in this scenario, use more connections, or compare fewer '
            f"{among} at once",
        )
    return slice_s


def _least(server: _Frozen) -> int:
    load = server.scope.recorder.load
    if load is not None and load.concurrency == 1:
        return turns.LEAST_OF_SEQUENTIAL
    is_frozen = isinstance(server.turn.tool, FrozenTool)
    return turns.LEAST_OF_FROZEN if is_frozen else turns.LEAST_REQUESTS


def _watched(server: _Frozen, places: contextlib.ExitStack) -> list[Watched]:
    """Look at each service before the slices that count: its signs, and the size of its logs."""
    scope = server.scope
    watched = [
        Watched(scope.sandbox, serving.name, serving.role, serving.running)
        for serving in server.loaded.warm.answering.services
        if serving.running is not None
    ]
    return [places.enter_context(contextlib.closing(part)) for part in watched]


def _servers(
    frozen: Sequence[_Frozen], watched: Sequence[Sequence[Watched]]
) -> list[tuple[TrialScope, Watched]]:
    """Return the server of each trial, of which all counts that it spends from now on."""
    servers = [
        (server.scope, part)
        for server, parts in zip(frozen, watched, strict=True)
        for part in parts
        if part.role == "server" and part.pids
    ]
    for _, part in servers:
        part.look(0.0, fully=True)
    return servers


def _ended(
    server: _Frozen, parts: Sequence[Watched], frozen: Sequence[_Frozen], drawn: tuple[int, float]
) -> LoadedServer:
    """End a load tool, and note what its server did; `drawn` are seed and length of the slices."""
    scope, recorder, turn = server.scope, server.scope.recorder, server.turn
    alive = [frozenset(scope.sandbox.processes(part.running)) for part in parts]
    slices, (seed, slice_s) = tuple(turn.slices), drawn
    pauses = [later.start_s - earlier.end_s for earlier, later in itertools.pairwise(slices)]
    finished = turn.tool.end(_TO_END_S)
    turn.freezer.thaw()
    recorder.turns = Turns(
        trials=tuple(other.scope.inputs.number for other in frozen),
        seed=seed,
        slice_s=slice_s,
        cpus=len(os.sched_getaffinity(0)),
        rounds=len(slices),
        slices=slices,
        frozen_s=sum(pauses),
        frozen_cpu_s=turn.freezer.frozen_cpu_s,
        longest_freeze_s=max(pauses, default=0.0),
        uncounted_bytes=getattr(turn.tool, "uncounted_bytes", None),
        cpu_wait_s=max(0.0, turn.freezer.waited_s() - turn.waited_first_s),
        probed=tuple(turn.probed),
    )
    recorder.observation = _observation(server, parts, alive, slices)
    recorder.placement = scope.placement.placed()
    return replace(server.loaded, finished=(finished,))


def _observation(
    server: _Frozen, parts: Sequence[Watched], alive: list[frozenset[int]], slices: Sequence[Slice]
) -> Observation:
    """Return what was seen in the slices; what only a load without pauses tells is unknown."""
    reason, alone = "in turns: not looked at between slices", len(parts) == 1
    sandbox, placement = server.scope.sandbox, server.scope.placement
    loader = server.turn.tool.loader
    usage = []
    for part, processes in zip(parts, alive, strict=True):
        placement.look(part.label, part.role, processes)
        looked_at_s = part.cpu_s() if part.role == "server" and part.pids else None
        used = replace(
            part.facts(),
            cpu_s=sum(slice_.cpu_s for slice_ in slices) if alone else looked_at_s,
            processes=len(processes),
            ended_processes=len({*part.pids} - processes),
            new_processes=len(processes.difference(part.pids)),
            why=reason,
        )
        usage.append(used)
    loader_s = sum(slice_.loader_cpu_s for slice_ in slices)
    placement.look(loader.label, "loader", sandbox.processes(loader))
    usage.append(
        Usage(
            label=loader.label,
            role="loader",
            cpu_s=loader_s,
            peak_pss_bytes=None,
            busiest_thread_cpu_s=loader_s,
            why=reason,
        )
    )
    counters = sandbox.counters()
    grown = {name: count - server.counters.get(name, 0) for name, count in counters.items()}
    talkative = "" if alone else "the server's own connections may be counted too"
    return Observation(
        seconds=sum(slice_.seconds for slice_ in slices),
        usage=tuple(usage),
        network=sandbox.mode.network,
        counters={name: count for name, count in grown.items() if count > 0},
        foreign_connections=talkative,
        sampler_cpu_s=server.turn.own_cpu_s,
    )
