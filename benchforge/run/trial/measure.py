"""One trial: fresh processes, a right answer, the load, a right answer again; kept in any case."""

import contextlib
import errno
import hashlib
import json
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from benchforge.checks.answers.counted import counted
from benchforge.checks.limits import limits
from benchforge.errors import BenchforgeError, CannotKeep, OutputDamaged, TrialFailed
from benchforge.graph import Measurement
from benchforge.model.files.environment import changes, fingerprint
from benchforge.model.suite.tuning import AppliedTuning
from benchforge.model.trial.good_response import right_of
from benchforge.model.trial.monitor import Monitor
from benchforge.model.trial.observation import Observation, Role
from benchforge.model.trial.trial import Failure, Load, Trial
from benchforge.model.values.cpus import Cpus
from benchforge.parts.part import Service
from benchforge.parts.site import Output, Target
from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.result_writer import entered
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.disk.space import FREE_SOME, told_full
from benchforge.run.http import probes
from benchforge.run.http.monitor import LABEL, LEAST, LEAST_OF_SEARCH, Monitoring
from benchforge.run.http.request import HttpProbe, Like, once, until_right
from benchforge.run.http.tls_sniffer import Tap
from benchforge.run.machine import placement, quiet
from benchforge.run.machine.facts import hard_facts
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.sandbox import Mode, Running, Sandbox, last_lines
from benchforge.run.trial.believable import believable
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.load import drive
from benchforge.run.trial.plugin_fault import blamed, reading_of, warming
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.services import Serving, failed, is_ours, port_of, question, started, stop
from benchforge.run.watch.sampler import Watch
from benchforge.suite.cases.case import Case
from benchforge.suite.secrets.redact import redact, redacted

_OPENED = ("TcpPassiveOpens", "TcpActiveOpens")
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


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


@dataclass(frozen=True)
class MeasuredTrial:
    """A trial, ready to be kept, and the body that its server answered."""

    trial: Trial
    body: bytes | None


def measure(
    inputs: TrialInputs, ground: TrialContext, tell: Callable[[str], None] = lambda _: None
) -> MeasuredTrial:
    """Run one trial in its folder, once it is quiet or its spare seconds are over.

    `tell` hears the name of each phase, and nothing during the load. What fails is in the trial;
    only CannotKeep is raised. Secrets are in none of what is returned, and once it is, in none of
    the folder's files.
    """
    # Each process has a working folder of its own.
    resolved = replace(inputs, folder=entered(inputs.folder))
    try:
        measured = _measure(resolved, ground, TrialRecorder(tell))
    finally:
        if inputs.folder.is_dir():
            hide_below(inputs.folder, ground.secrets)
    return MeasuredTrial(redacted(measured.trial, ground.secrets), measured.body)


def _measure(inputs: TrialInputs, ground: TrialContext, story: TrialRecorder) -> MeasuredTrial:
    began, begun = datetime.now(UTC), time.monotonic()
    step, case, folder = inputs.step, inputs.step.case, inputs.folder
    failure: Failure | None = None
    stay = Stay(ground.places)
    story.placed = stay.placed()
    now = hard_facts()
    story.load = _load(case, ground.suite_folder)
    _wait_for_quiet(ground, case, inputs.spare_s, story)
    try:
        with scratch_folder() as scratch, contextlib.ExitStack() as stack:
            with story.phase("keeper"):
                network, tuning = _network(ground, case), case.tuning
                sandbox = stack.enter_context(
                    ground.host.trial(folder, network, tuning.sysctl, tuning.limits, scratch)
                )
                story.tuned = tuned(sandbox.mode)
            try:
                _measured(sandbox, inputs, ground, scratch, story, stay)
            finally:
                story.namespaces = {
                    "pid": sandbox.mode.pid_namespace,
                    "network": sandbox.mode.network,
                    "shared_memory": sandbox.mode.shared_memory,
                    "weaker": list(sandbox.mode.weaker),
                }
                with contextlib.suppress(TrialFailed):  # the keeper is gone: that is said already
                    story.ended(sandbox)
    except TrialFailed as error:
        disks = Path(tempfile.gettempdir()), folder
        if full := told_full(f"{error} {error.log}", *disks):
            error.message, error.hint = f"{full}: {error.message}", FREE_SOME
        failure = _failure(error.stage, error, error.log, error.about)
    except CannotKeep:
        raise
    except OutputDamaged as error:
        # The tool's fault until proven otherwise: it is asked again.
        failure = _failure("read", error, _driver_log(folder, case), "apparatus")
    except OSError as error:
        if folder.is_dir() and error.errno not in _DISK:
            raise
        where = error.filename or folder
        raise CannotKeep(
            f"{where}: {error.strerror}",
            "the folder was removed, or its disk is full; choose another with -o",
        ) from error
    except BenchforgeError as error:  # a part cannot do what the scenario asks of it
        failure = _failure("start", error, "")
    except Exception as error:
        if (fault := blamed(error)) is None:
            raise
        failure = _failure("start", fault, "")
    trial = Trial(
        number=inputs.number,
        case=case.name,
        block=step.block,
        position=step.position,
        attempt=inputs.attempt,
        seed=step.seed,
        started=began,
        seconds=time.monotonic() - begun,
        phases=story.phases,
        request=case.request,
        url=story.url,
        processes=story.processes,
        answers=tuple(story.answers),
        probes=story.probes,
        listener=story.listener,
        exhaustions=story.complaints,
        namespaces=story.namespaces,
        load=story.load,
        driver_digest=case.driven,
        workers=_workers(case),
        fingerprint=fingerprint(now),
        changed_facts=tuple(changes(ground.facts, now)),
        encryption=story.links,
        workers_declared=_workers_declared(case),
        tuning=story.tuned,
        placement=story.placed,
        good_response=story.right,
        reading=story.reading,
        observation=story.observation,
        monitor=story.monitor,
        checks=tuple(story.checks),
        failure=failure,
    )
    return MeasuredTrial(_counted(trial), story.body)


def _counted(trial: Trial) -> Trial:
    """Return a trial whose good responses are those that the suite expects: it has some."""
    right = trial.good_response
    if trial.reading is None or right is None:
        return trial
    reading = counted(trial, trial.reading, right, limits())
    trial = trial.model_copy(update={"reading": reading})
    if trial.failure is not None:
        return trial
    try:
        believable(reading, trial.case, right)
    except TrialFailed as error:
        failure = _failure(error.stage, error, error.log, error.about)
        return trial.model_copy(update={"failure": failure})
    return trial


def _measured(
    sandbox: Sandbox,
    inputs: TrialInputs,
    ground: TrialContext,
    scratch: Path,
    story: TrialRecorder,
    stay: Stay,
) -> None:
    case, folder, seed = inputs.step.case, inputs.folder, inputs.step.seed
    cpus = ground.places.get("loader")
    hide = partial(redact, secrets=ground.secrets)

    def note(serving: Serving) -> None:
        if serving.running is not None and serving.command is not None:
            interpreter = ground.interpreter_of(serving.part)
            story.runs(serving.command, serving.running, interpreter)

    with Tap(sandbox if case.backends else None) as tap:  # to close it takes 10 ms
        with story.phase("services"):
            folders = folder, scratch
            services = started(sandbox, ground, case, seed, folders, note, tap.forget)
            asking = question(case, services[-1], inputs.like, ground.secrets)
        with story.phase("ask"):
            reply = until_right(sandbox, asking, float(case.server.ready_within))
            port = port_of(asking.root)
            story.listener = probes.listener(sandbox, asking, port, None)
            is_ours(sandbox, services[-1], port)
            story.ready(sandbox)
            story.answers.append(reply.answer)
            story.body = reply.body
            monitor = _monitor(sandbox, inputs, ground, scratch / LABEL, asking, story.load)
            alone = probes.held_to_itself(asking, reply.body)
            before = probes.ask_repeatedly(sandbox, alone, probes.BEFORE, story.load)
            story.probes = probes.probes(before, (), story.load)
            _still_there(sandbox, services, "while it was asked", "ask")
        story.links = tap.links(_backends(services))
    target = _target(asking, ground, case, folder)
    story.url = target.url
    if case.warm_up_s:
        with story.phase("warm-up"):
            _warm_up(sandbox, case, _target(asking, ground, case, folder, "warm-up"), story, cpus)
    foreign = _foreign(sandbox, services)
    with story.phase("load"), Watch(sandbox, _watched(services), foreign, stay) as watched:
        label = _driver_label(case)
        watched.leave_out(monitor)
        finished = drive(sandbox, case.driver, target, label, story, watched, cpus, monitor)
        story.observation = watched.observation(folder)
    _stayed(stay, story)
    with story.phase("ask"):
        story.complaints = probes.complaints(story.started, hide)
        _still_there(sandbox, services, "during the load", "drive")
        story.reading = reading_of(case.driver, Output(target, finished, hide))
        story.answers.append(once(sandbox, alone).answer)
        after = probes.ask_repeatedly(sandbox, alone, probes.AFTER, story.load)
        story.probes = probes.probes(before, after, story.load, probes.debug(sandbox, asking))
        story.listener = probes.listener(sandbox, asking, port, story.listener)
        story.right = right_of(case.expect, case.request, story.answers, story.probes)
        _judge(monitor, alone, story, folder)
    with story.phase("stop"):
        stop(sandbox, services)


def _warm_up(
    sandbox: Sandbox, case: Case, target: Target, story: TrialRecorder, cpus: Cpus | None
) -> None:
    driver = warming(case.driver, case.warm_up_s)
    drive(sandbox, driver, target, "warm-up", story, cpus=cpus)


def _monitor(
    sandbox: Sandbox,
    inputs: TrialInputs,
    ground: TrialContext,
    folder: Path,
    asking: HttpProbe,
    load: Load | None,
) -> Monitoring | None:
    """Start what sends the request at random moments of the load; None where nothing should."""
    step = inputs.step
    if step.case.monitor is None:
        return None
    monitor = Monitoring(sandbox, folder, asking, load)
    least = LEAST if step.case.find is None else LEAST_OF_SEARCH
    cpus = ground.places.get("loader")
    monitor.start(ground.python, cpus, step.case.monitor, least=least, seed=step.seed)
    return monitor


def _judge(
    monitor: Monitoring | None, right: HttpProbe, story: TrialRecorder, folder: Path
) -> None:
    if monitor is None or story.probes is None or story.observation is None:
        return
    bodies = frozenset(kind.answer.sha256 for kind in story.probes.most_frequent)
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


def _wait_for_quiet(ground: TrialContext, case: Case, spare_s: float, story: TrialRecorder) -> None:
    most_s = quiet.at_most_s(ground.quiet, case.declared_s, spare_s)
    if most_s is not None:
        with story.phase("quiet"):
            seen = quiet.until_quiet(most_s)
        story.checks.append(quiet.check(seen))


def _stayed(stay: Stay, story: TrialRecorder) -> None:
    story.placed = stay.placed()
    if story.placed is not None and story.observation is not None:
        given = [one.label for one in story.observation.usage if one.role in story.placed.cpus]
        story.checks.append(placement.check(story.placed, given))


def _load(case: Case, suite_folder: Path) -> Load:
    load = case.driver.load()
    inputs = [case.driver.model_dump_json(), case.driver.fingerprint(suite_folder)]
    stream = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
    closes = any(
        name.lower() == "connection" and value.lower() == "close"
        for name, value in case.request.headers.items()
    )
    kept = {"keep_alive": False} if closes else {}
    return load.model_copy(update={"options_digest": stream, **kept})


def _workers(case: Case) -> dict[str, int]:
    counts = {label: service.workers_told() for label, service in _named(case)}
    return {label: count for label, count in counts.items() if count is not None}


def _workers_declared(case: Case) -> tuple[str, ...]:
    """Return of whom the suite says how many they are, and who has no option to say it with."""
    labels = []
    for label, service in _named(case):
        options = type(service).model_fields.keys() & set(service.shares_work)
        if not options or service.model_fields_set & options:
            labels.append(label)
    return tuple(labels)


def _named(case: Case) -> list[tuple[str, Service]]:
    return [(case.name.server, case.server), *case.upstreams, *case.backends]


def tuned(mode: Mode) -> AppliedTuning | None:
    """Return what came of the tuning; None where none was asked for."""
    if not mode.applied and not mode.refused:
        return None
    return AppliedTuning(applied=dict(mode.applied), refused=dict(mode.refused))


def _network(ground: TrialContext, case: Case) -> Literal["private", "host"]:
    return "host" if any(part.outside() for part in case.services) else ground.network


def _target(
    asking: HttpProbe,
    ground: TrialContext,
    case: Case,
    folder: Path,
    phase: Literal["warm-up", "load"] = "load",
) -> Target:
    return Target(
        url=asking.root + asking.request.path,
        request=asking.request,
        folder=folder,
        programs=ground.programs,
        python=ground.python_of(case.driver),
        phase=phase,
        ca_file=asking.ca_file,
        suite_folder=ground.suite_folder,
    )


def _watched(services: list[Serving]) -> dict[str, tuple[Role, Running | None]]:
    return {serving.name: (serving.role, serving.running) for serving in services}


def _foreign(sandbox: Sandbox, services: list[Serving]) -> str:
    """Why the network's counters hold connections of others than the load tool; "" if not."""
    if sandbox.mode.network == "host":
        return "the counters are those of the whole machine"
    talkative = [
        serving.site.label
        for serving in services[:-1]
        if serving.running is not None
        and any(
            sandbox.owns(serving.running, port) is not False for port in serving.site.ports.values()
        )
    ]
    if not talkative:
        return ""
    return f"the server's own connections to {', '.join(talkative)} are counted too"


def _still_there(sandbox: Sandbox, services: list[Serving], when: str, stage: str) -> None:
    for serving in reversed(services):
        if serving.running is not None and (end := sandbox.finished(serving.running)):
            raise failed(serving, f"ended with exit code {end.code} {when}", stage)


def _failure(
    stage: str,
    error: BenchforgeError,
    log: str,
    about: Literal["behaviour", "apparatus"] = "behaviour",
) -> Failure:
    return Failure(stage=stage, message=error.message, hint=error.hint, log=log, subject=about)


def _driver_label(case: Case) -> str:
    return f"{case.driver.kind}-{case.name.driver}"


def _driver_log(folder: Path, case: Case) -> str:
    name = _driver_label(case)
    return last_lines(folder / f"{name}.err") or last_lines(folder / f"{name}.out")
