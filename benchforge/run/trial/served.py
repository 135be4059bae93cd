"""A server that is asked: all of a trial before its load, and all after it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchforge.errors import OutputDamaged
from benchforge.graph import Measurement
from benchforge.model.trial.answers.good_response import right_of
from benchforge.model.trial.answers.monitor import Monitor
from benchforge.model.trial.observation import Observation
from benchforge.model.trial.trial import Load
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.parts.site import Output, Target
from benchforge.run.http import probes
from benchforge.run.http.monitor import LABEL, LEAST, LEAST_OF_SEARCH, Monitoring
from benchforge.run.http.request import HttpProbe, Like, once, until_right
from benchforge.run.http.tls_sniffer import Tap
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.load import drive
from benchforge.run.trial.plugin_fault import reading_of, warming
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.services import (
    Serving,
    Steps,
    completed,
    failed,
    is_ours,
    port_of,
    question,
    starting,
)
from benchforge.stats.turns.reading import counted_in_slices, in_turns
from benchforge.suite.cases.case import Case
from benchforge.suite.secrets.redact import redact
from benchforge.suite.workload import FILE, ReadyMix

StartServices = Callable[..., Steps[list[Serving]]]
"Starts the services of a case, as `starting` does."

_OPENED = ("TcpPassiveOpens", "TcpActiveOpens")


@dataclass(frozen=True)
class TrialInputs:
    """What one trial measures, and where it is kept."""

    step: Measurement
    folder: Path
    number: int
    attempt: int = 1
    like: Like | None = None
    "Answer that its own must equal; None where it may be any that is right."
    spare_s: float = math.inf
    "Longest wait for quiet, in seconds."
    divided: tuple[Driver, int, int] | None = None
    "The whole load, place and number of places, where the driver is one of several load tools."


@dataclass(frozen=True)
class WarmServices:
    """Services that run, of which the server answered rightly and is warm."""

    services: list[Serving]
    asking: HttpProbe
    alone: HttpProbe
    "The same request; its answer is held to the server's own."
    port: int
    before: list[probes.ProbeResult]
    monitor: Monitoring | None
    target: Target
    mix: ReadyMix | None
    "Mix of which each kind was answered; None for one request."


def made_ready(
    sandbox: Sandbox,
    inputs: TrialInputs,
    ground: TrialContext,
    scratch: Path,
    story: TrialRecorder,
    start: StartServices = starting,
) -> WarmServices:
    """Start all services of a trial, send the request until it is answered rightly, warm it up.

    Raises TrialFailed where a service does not start, or the answer stays wrong.
    """
    return completed(
        making_ready(sandbox, inputs, ground, scratch, story, lambda: inputs.like, start)
    )


def making_ready(
    sandbox: Sandbox,
    inputs: TrialInputs,
    ground: TrialContext,
    scratch: Path,
    story: TrialRecorder,
    like: Callable[[], Like | None],
    start: StartServices = starting,
    at_once: int = 1,
) -> Steps[WarmServices]:
    """Do what `made_ready` does, with a pause after each process that was started.

    `like` returns the answer that the server's must equal, once the server is asked. With `at_once`
    trials that start together, a service may take that many times as long.
    """
    case, folder, seed = inputs.step.case, inputs.folder, inputs.step.seed
    of_block = inputs.step.run_seed, inputs.step.block

    def note(serving: Serving) -> None:
        if serving.running is not None and serving.command is not None:
            interpreter = ground.interpreter_of(serving.part)
            story.runs(serving.command, serving.running, interpreter)

    with Tap(sandbox if case.backends else None) as tap:  # to close it takes 10 ms
        with story.phase("services"):
            folders = folder, scratch
            services = yield from start(
                sandbox, ground, case, seed, folders, note, tap.forget, at_once=at_once
            )
            asking = question(case, services[-1], like(), ground.secrets)
        with story.phase("ask"):
            reply = until_right(sandbox, asking, float(case.server.ready_within) * at_once)
            port = port_of(asking.root)
            story.listener = probes.listener(sandbox, asking, port, None)
            is_ours(sandbox, services[-1], port)
            story.ready(sandbox)
            story.answers.append(reply.answer)
            story.body = reply.body
            mix = case.workload
            ready = None if mix is None else mix.ready_at(sandbox, asking, story.load, of_block)
            make = ready.monitoring() if ready else Monitoring
            monitor = _monitor(make, (sandbox, scratch / LABEL, asking, story.load), inputs, ground)
            alone = probes.held_to_itself(asking, reply.body)
            before = probes.ask_repeatedly(sandbox, alone, probes.BEFORE, story.load)
            story.probes = probes.probes(before, (), story.load)
            still_there(sandbox, services, "while it was asked", "ask")
        story.links = tap.links(_backends(services))
    target = _target(asking, ground, case, folder)
    story.url = target.url
    if mix and ready:
        with story.phase("stream"):
            file, share = scratch / FILE, inputs.divided or (case.driver, 0, 1)
            story.stream = ready.written(share, file, ground.secrets)
            target = replace(target, stream=file, kinds=tuple(mix.shares))
    if case.warm_up_s:
        with story.phase("warm-up"):
            warm_up = replace(target, phase="warm-up")
            driver = warming(case.driver, case.warm_up_s)
            drive(
                sandbox,
                driver,
                warm_up,
                "warm-up",
                story,
                cpus=ground.places.get("loader"),
                length_s=case.warm_up_s,
            )
    return WarmServices(services, asking, alone, port, before, monitor, target, ready)


def asked_again(
    sandbox: Sandbox,
    inputs: TrialInputs,
    ground: TrialContext,
    there: WarmServices,
    finished: tuple[Finished, ...],
    story: TrialRecorder,
) -> None:
    """Read what the load tool says, and ask the server again.

    Raises TrialFailed where a service ended or answers otherwise, and OutputDamaged.
    """
    case, services = inputs.step.case, there.services
    hide = partial(redact, secrets=ground.secrets)
    with story.phase("ask"):
        story.complaints = probes.complaints(story.started, hide)
        still_there(sandbox, services, "during the load", "drive")
        reading = reading_of(case.driver, Output(there.target, finished, hide))
        story.reading = reading
        if story.turns is not None:
            story.turns, why = counted_in_slices(reading, story.turns, story.load)
            if why is not None:
                raise OutputDamaged(f"{case.name.driver}: {why}")
            story.reading = in_turns(reading, story.turns)
        story.answers.append(once(sandbox, there.alone).answer)
        after = probes.ask_repeatedly(sandbox, there.alone, probes.AFTER, story.load)
        signs = probes.debug(sandbox, there.asking)
        story.probes = probes.probes(there.before, after, story.load, signs)
        story.listener = probes.listener(sandbox, there.asking, there.port, story.listener)
        if case.workload is None:
            story.right = right_of(case.expect, case.request, story.answers, story.probes)
        elif story.stream and there.mix:
            story.stream = there.mix.judged(story.stream)
        _judge(there.monitor, there.alone, story, inputs.folder)


def _monitor(
    make: Callable[..., Monitoring],
    place: tuple[Sandbox, Path, HttpProbe, Load | None],
    inputs: TrialInputs,
    ground: TrialContext,
) -> Monitoring | None:
    """Start what sends the request at random moments of the load; None where nothing should."""
    step = inputs.step
    if step.case.monitor is None:
        return None
    monitor = make(*place)
    least = LEAST if step.case.find is None else LEAST_OF_SEARCH
    cpus = ground.places.get("loader")
    monitor.start(ground.python, cpus, step.case.monitor, least=least, seed=step.seed)
    return monitor


def _judge(
    monitor: Monitoring | None, right: HttpProbe, story: TrialRecorder, folder: Path
) -> None:
    if monitor is None or story.probes is None or story.observation is None:
        return
    bodies = frozenset(kind.answer.content_sha256 for kind in story.probes.most_frequent)
    story.monitor = monitor.judged(right, bodies, folder)
    story.observation = _without(story.observation, story.monitor)


def _without(seen: Observation, monitor: Monitor) -> Observation:
    """Return what was seen, without the monitor's connections, and with its CPU time as ours."""
    counters = {
        name: max(0, count - monitor.connections) if name in _OPENED else count
        for name, count in seen.counters.items()
    }
    own_s = seen.sampler_cpu_s + monitor.cpu_s
    return seen.model_copy(update={"counters": counters, "sampler_cpu_s": own_s})


def _backends(services: list[Serving]) -> dict[str, set[int]]:
    return {
        one.site.label: set(one.site.ports.values()) for one in services if one.role == "backend"
    }


def _target(
    asking: HttpProbe,
    ground: TrialContext,
    case: Case,
    folder: Path,
) -> Target:
    return Target(
        url=asking.root + asking.request.path,
        request=asking.request.framed,
        folder=folder,
        programs=ground.programs,
        python=ground.python_of(case.driver),
        ca_file=asking.ca_file,
        suite_folder=ground.suite_folder,
    )


def still_there(sandbox: Sandbox, services: list[Serving], when: str, stage: str) -> None:
    """Raise TrialFailed where a service has ended."""
    for serving in reversed(services):
        if serving.running is not None and (end := sandbox.finished(serving.running)):
            message = f"ended with exit code {end.code} {when}"
            raise failed(serving, message, stage, ended=True)
