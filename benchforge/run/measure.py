"""One trial: fresh processes, a right answer, the load, a right answer again; kept in any case."""

import contextlib
import errno
import hashlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from benchforge.errors import (
    BenchforgeError,
    CannotKeep,
    OutputDamaged,
    TrialFailed,
)
from benchforge.graph import Measure
from benchforge.model.environment import changes, fingerprint
from benchforge.model.observation import Role
from benchforge.model.trial import Failure, Load, Trial
from benchforge.model.tuning import Tuned
from benchforge.parts.part import Service
from benchforge.parts.site import Output, Target
from benchforge.run import placement, probes, quiet
from benchforge.run.ask import Like, Question, once, until_right
from benchforge.run.blame import blamed, reading_of, warming
from benchforge.run.drive import believable, drive
from benchforge.run.facts import hard_facts
from benchforge.run.ground import Ground
from benchforge.run.here import Here, Mode, Running, last_lines
from benchforge.run.placement import Stay
from benchforge.run.scratch import scratch_folder
from benchforge.run.services import (
    Serving,
    failed,
    is_ours,
    port_of,
    question,
    started,
    stop,
)
from benchforge.run.story import Story
from benchforge.run.tap import Tap
from benchforge.run.usage import Watch
from benchforge.suite.case import Case
from benchforge.suite.redact import redact

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


@dataclass(frozen=True)
class Measured:
    """A trial, ready to be kept, and the body that its server answered."""

    trial: Trial
    body: bytes | None


def measure(
    step: Measure,
    number: int,
    attempt: int,
    ground: Ground,
    folder: Path,
    like: Like | None,
    tell: Callable[[str], None],
    spare_s: float = math.inf,
) -> Measured:
    """Run one trial in `folder`, once it is quiet or `spare_s` seconds are over.

    What fails is in the trial; only CannotKeep is raised.
    """
    began, begun = datetime.now(UTC), time.monotonic()
    folder = folder.resolve()  # each process has a working folder of its own
    story = Story(ground.secrets, tell)
    failure: Failure | None = None
    stay = Stay(ground.places)
    story.placed = stay.placed()
    now = hard_facts()
    story.load = _load(step.case, ground.suite_folder)
    _wait_for_quiet(ground, step.case, spare_s, story)
    try:
        with scratch_folder() as scratch, contextlib.ExitStack() as stack:
            with story.phase("keeper"):
                network = _network(ground, step.case)
                tuning = step.case.tuning
                here = stack.enter_context(
                    ground.host.trial(folder, network, tuning.sysctl, tuning.limits)
                )
                story.tuned = tuned(here.mode)
            try:
                _measured(here, step, ground, (folder, scratch), like, story, stay)
            finally:
                story.namespaces = {
                    "pid": here.mode.pid_namespace,
                    "network": here.mode.network,
                    "weaker": list(here.mode.weaker),
                }
                with contextlib.suppress(TrialFailed):  # the keeper is gone: that is said already
                    story.ended(here)
    except TrialFailed as error:
        failure = _failure(error.stage, error, error.log, error.about)
    except CannotKeep:
        raise
    except OutputDamaged as error:
        # The tool's fault until proven otherwise: it is asked again.
        failure = _failure("read", error, _driver_log(folder, step.case), "apparatus")
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
        number=number,
        case=step.case.name,
        block=step.block,
        position=step.position,
        attempt=attempt,
        seed=step.seed,
        started=began,
        seconds=time.monotonic() - begun,
        phases=story.phases,
        request=step.case.request,
        url=redact(story.url, story.secrets),
        processes=story.processes,
        answers=tuple(story.answers),
        probes=story.probes,
        listener=story.listener,
        complaints=story.complaints,
        namespaces=story.namespaces,
        load=story.load,
        driven=step.case.driven,
        workers=_workers(step.case),
        fingerprint=fingerprint(now),
        changed=tuple(changes(ground.facts, now)),
        links=story.links,
        workers_declared=_workers_declared(step.case),
        tuned=story.tuned,
        placed=story.placed,
        reading=story.reading,
        observation=story.observation,
        checks=tuple(story.checks),
        failure=failure,
    )
    return Measured(trial, story.body)


def _measured(
    here: Here,
    step: Measure,
    ground: Ground,
    folders: tuple[Path, Path],
    like: Like | None,
    story: Story,
    stay: Stay,
) -> None:
    case, (folder, _) = step.case, folders
    cpus = ground.places.get("loader")

    def note(serving: Serving) -> None:
        if serving.running is not None and serving.command is not None:
            interpreter = ground.interpreter_of(serving.part)
            story.runs(serving.command, serving.running, interpreter)

    with Tap(here) as tap:
        with story.phase("services"):
            services = started(here, ground, case, step.seed, folders, note, tap.forget)
            asking = question(case, services[-1], like)
        with story.phase("ask"):
            asked = until_right(here, asking, float(case.server.ready_within))
            port = port_of(asking.root)
            story.listener = probes.listener(here, asking, port, None)
            is_ours(here, services[-1], port)
            story.ready(here)
            story.answers.append(asked.answer)
            story.body = asked.body
            alone = probes.held_to_itself(asking, asked.body)
            keeps = story.load is None or story.load.keep_alive is not False
            before = probes.asked(here, alone, probes.BEFORE, keep_alive=keeps)
            story.probes = probes.probes(before, ())
            _still_there(here, services, "while it was asked", "ask")
        story.links = tap.links(_backends(services))
    target = _target(asking, ground, case, folder)
    story.url = target.url
    if case.warm_up_s:
        with story.phase("warm-up"):
            driver = warming(case.driver, case.warm_up_s)
            shorter = _target(asking, ground, case, folder, "warm-up")
            drive(here, driver, shorter, "warm-up", story, cpus=cpus)
    foreign = _foreign(here, services)
    with story.phase("load"), Watch(here, _watched(services), foreign, stay) as watched:
        label = _driver_label(case)
        finished = drive(here, case.driver, target, label, story, watched, cpus)
        story.observation = watched.observation(folder)
    _stayed(stay, story)
    with story.phase("ask"):
        story.complaints = probes.complaints(story.started)
        _still_there(here, services, "during the load", "drive")
        story.reading = reading_of(case.driver, Output(target, finished))
        story.answers.append(once(here, alone).answer)
        after = probes.asked(here, alone, probes.AFTER, keep_alive=keeps)
        story.probes = probes.probes(before, after, probes.debug(here, asking))
        story.listener = probes.listener(here, asking, port, story.listener)
        believable(story.reading, case.name, case.request, case.expect, asked.answer.length)
    with story.phase("stop"):
        stop(here, services)


def _backends(services: list[Serving]) -> dict[str, set[int]]:
    return {
        one.site.label: set(one.site.ports.values()) for one in services if one.role == "backend"
    }


def _wait_for_quiet(ground: Ground, case: Case, spare_s: float, story: Story) -> None:
    most_s = quiet.at_most_s(ground.quiet, case.declared_s, spare_s)
    if most_s is not None:
        with story.phase("quiet"):
            seen = quiet.until_quiet(most_s)
        story.checks.append(quiet.check(seen))


def _stayed(stay: Stay, story: Story) -> None:
    story.placed = stay.placed()
    if story.placed is not None and story.observation is not None:
        given = [one.label for one in story.observation.usage if one.role in story.placed.cpus]
        story.checks.append(placement.check(story.placed, given))


def _load(case: Case, suite_folder: Path) -> Load:
    load = case.driver.load()
    told = [case.driver.model_dump_json(), case.driver.fingerprint(suite_folder)]
    stream = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    closes = any(
        name.lower() == "connection" and value.lower() == "close"
        for name, value in case.request.headers.items()
    )
    kept = {"keep_alive": False} if closes else {}
    return load.model_copy(update={"stream": stream, **kept})


def _workers(case: Case) -> dict[str, int]:
    told = {label: service.workers_told() for label, service in _named(case)}
    return {label: count for label, count in told.items() if count is not None}


def _workers_declared(case: Case) -> tuple[str, ...]:
    """Return of whom the suite says how many they are, and who has no option to say it with."""
    found = []
    for label, service in _named(case):
        options = type(service).model_fields.keys() & set(service.shares_work)
        if not options or service.model_fields_set & options:
            found.append(label)
    return tuple(found)


def _named(case: Case) -> list[tuple[str, Service]]:
    return [(case.name.server, case.server), *case.upstreams, *case.backends]


def tuned(mode: Mode) -> Tuned | None:
    """Return what came of the tuning; None where none was asked for."""
    if not mode.applied and not mode.refused:
        return None
    return Tuned(applied=dict(mode.applied), refused=dict(mode.refused))


def _network(ground: Ground, case: Case) -> Literal["private", "host"]:
    return "host" if any(part.outside() for part in case.services) else ground.network


def _target(
    asking: Question,
    ground: Ground,
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


def _foreign(here: Here, services: list[Serving]) -> str:
    """Why the network's counters hold connections of others than the load tool; "" if not."""
    if here.mode.network == "host":
        return "the counters are those of the whole machine"
    talkative = [
        serving.site.label
        for serving in services[:-1]
        if serving.running is not None
        and any(
            here.owns(serving.running, port) is not False for port in serving.site.ports.values()
        )
    ]
    if not talkative:
        return ""
    return f"the server's own connections to {', '.join(talkative)} are counted too"


def _still_there(here: Here, services: list[Serving], when: str, stage: str) -> None:
    for serving in reversed(services):
        if serving.running is not None and (end := here.finished(serving.running)):
            raise failed(serving, f"ended with exit code {end.code} {when}", stage)


def _failure(
    stage: str,
    error: BenchforgeError,
    log: str,
    about: Literal["behaviour", "apparatus"] = "behaviour",
) -> Failure:
    return Failure(stage=stage, message=error.message, hint=error.hint, log=log, about=about)


def _driver_label(case: Case) -> str:
    return f"{case.driver.kind}-{case.name.driver}"


def _driver_log(folder: Path, case: Case) -> str:
    name = _driver_label(case)
    return last_lines(folder / f"{name}.err") or last_lines(folder / f"{name}.out")
