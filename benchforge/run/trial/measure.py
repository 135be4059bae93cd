"""One trial: fresh processes, a right answer, the load, a right answer again; kept in any case."""

import contextlib
import errno
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchforge.checks.answers.counted import counted, counted_kinds
from benchforge.checks.answers.sampled import judged
from benchforge.checks.limits import limits
from benchforge.errors import BenchforgeError, CannotKeep, OutputDamaged, TrialFailed
from benchforge.model.files.environment import changes, fingerprint
from benchforge.model.suite.tuning import AppliedTuning
from benchforge.model.trial.answers.answer import Expect
from benchforge.model.trial.observation import Role
from benchforge.model.trial.trial import Failure, Load, Trial
from benchforge.parts.part import Part, ServesCode, Service
from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.result_writer import entered
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.disk.space import FREE_SOME, told_full
from benchforge.run.machine import placement, quiet
from benchforge.run.machine.facts import hard_facts
from benchforge.run.machine.placement import Stay
from benchforge.run.sandbox.host import Wishes
from benchforge.run.sandbox.sandbox import Mode, Running, Sandbox, last_lines
from benchforge.run.trial.believable import believable
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.load import drive
from benchforge.run.trial.plugin_fault import blamed
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.served import TrialInputs, asked_again, made_ready
from benchforge.run.trial.services import Serving, stop
from benchforge.run.watch.sampler import Watch
from benchforge.suite.cases.case import Case
from benchforge.suite.secrets.redact import redacted

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


__all__ = ["MeasuredTrial", "TrialInputs", "measure"]


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
        if inputs.step.case.hosts and ground.elsewhere is not None:
            measured = ground.elsewhere(resolved, ground, tell)
        else:
            measured = _measure(resolved, ground, TrialRecorder(tell))
    finally:
        if inputs.folder.is_dir():
            hide_below(inputs.folder, ground.secrets)
    return MeasuredTrial(redacted(measured.trial, ground.secrets), measured.body)


def _measure(inputs: TrialInputs, ground: TrialContext, story: TrialRecorder) -> MeasuredTrial:
    case, folder = inputs.step.case, inputs.folder
    failure: Failure | None = None
    stay = begin(case, ground, story)
    _wait_for_quiet(ground, case, inputs.spare_s, story)
    try:
        with scratch_folder() as scratch, sandboxed(inputs, ground, scratch, story) as sandbox:
            _measured(sandbox, inputs, ground, scratch, story, stay)
    except Exception as error:  # noqa: BLE001 - raised again where it is nobody's but ours
        failure = failure_of(error, case, folder)
    return trial_of(inputs, ground, story, failure)


def begin(case: Case, ground: TrialContext, story: TrialRecorder) -> Stay:
    """Note what is known of a trial before anything starts; return who looks at its placement."""
    stay = Stay(ground.places)
    story.placed = stay.placed()
    story.hard_facts = hard_facts()
    story.load = _load(case, ground.suite_folder)
    return stay


@contextlib.contextmanager
def sandboxed(
    inputs: TrialInputs, ground: TrialContext, scratch: Path, story: TrialRecorder
) -> Iterator[Sandbox]:
    """Give a trial its place; on leaving, note what the place was and how its processes ended."""
    case = inputs.step.case
    with contextlib.ExitStack() as stack:
        with story.phase("keeper"):
            network, tuning = _network(ground, case), case.tuning
            wishes = Wishes(
                *(tuning.sysctl, tuning.limits, scratch, host_names(case)),
                sockets=ground.sockets,
                writes=ground.writes,
                copied=_code_folders(ground, case),
            )
            sandbox = stack.enter_context(ground.host.trial(inputs.folder, network, wishes))
            story.tuned = tuned(sandbox.mode)
        try:
            yield sandbox
        finally:
            sandbox.note_late_sockets()
            story.namespaces = {
                "pid": sandbox.mode.pid_namespace,
                "network": sandbox.mode.network,
                "shared_memory": sandbox.mode.shared_memory,
                "files": sandbox.mode.files,
                "sockets": sandbox.mode.sockets,
                "named": [*map(str, (*ground.writes, *ground.sockets))],
                "weaker": list(sandbox.mode.weaker),
            }
            with contextlib.suppress(TrialFailed):  # the keeper is gone: that is said already
                story.ended(sandbox)


def failure_of(error: Exception, case: Case, folder: Path) -> Failure:
    """Return why a trial has no measurement, from what ended it.

    Raises CannotKeep where its folder cannot be written, and the error itself where it is a fault
    of our own. Call it where the error is handled.
    """
    if isinstance(error, TrialFailed):
        disks = Path(tempfile.gettempdir()), folder
        if full := told_full(f"{error} {error.log}", *disks):
            error.message, error.hint = f"{full}: {error.message}", FREE_SOME
        return _failure(error)
    if isinstance(error, CannotKeep):
        raise error
    if isinstance(error, OutputDamaged):
        # The tool's fault unless its driver says otherwise: it is asked again.
        log = _driver_log(folder, case)
        return Failure(
            stage="read", message=error.message, hint=error.hint, log=log, subject=error.about
        )
    if isinstance(error, OSError):
        if folder.is_dir() and error.errno not in _DISK:
            raise error
        where = error.filename or folder
        raise CannotKeep(
            f"{where}: {error.strerror}",
            "the folder was removed, or its disk is full; choose another with -o",
        ) from error
    if isinstance(error, BenchforgeError):  # a part cannot do what the scenario asks of it
        return _start_failure(error)
    if (fault := blamed(error)) is None:
        raise error
    return _start_failure(fault)


def trial_of(
    inputs: TrialInputs, ground: TrialContext, story: TrialRecorder, failure: Failure | None
) -> MeasuredTrial:
    """Return what a recorder holds as a trial, whose good responses are counted."""
    step, case = inputs.step, inputs.step.case
    trial = Trial(
        number=inputs.number,
        case=case.name,
        block=step.block,
        position=step.position,
        attempt=inputs.attempt,
        seed=step.seed,
        started=story.began,
        seconds=time.monotonic() - story.begun_s,
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
        fingerprint=fingerprint(story.hard_facts),
        changed_facts=tuple(changes(ground.facts, story.hard_facts)),
        encryption=story.links,
        workers_declared=_workers_declared(case),
        tuning=story.tuned,
        placement=story.placed,
        good_response=story.right,
        reading=story.reading,
        observation=story.observation,
        monitor=story.monitor,
        stream=story.stream,
        turns=story.turns,
        checks=tuple(story.checks),
        failure=failure,
    )
    return MeasuredTrial(_counted(trial, case.expect), story.body)


def _counted(trial: Trial, expect: Expect) -> Trial:
    """Return a trial whose good responses are those that the suite expects: it has some."""
    right, stream = trial.good_response, trial.stream
    if trial.reading is None:
        return trial
    if stream is not None:
        reading = counted_kinds(trial, trial.reading, stream, limits())
    elif right is not None:
        reading = counted(trial, judged(trial.reading, expect, trial.answers), right, limits())
    else:
        return trial
    trial = trial.model_copy(update={"reading": reading})
    if trial.failure is not None:
        return trial
    try:
        believable(reading, trial.case, right)
    except TrialFailed as error:
        return trial.model_copy(update={"failure": _failure(error)})
    return trial


def _wait_for_quiet(ground: TrialContext, case: Case, spare_s: float, story: TrialRecorder) -> None:
    most_s = quiet.at_most_s(ground.quiet, case.declared_s, spare_s)
    if most_s is not None:
        with story.phase("quiet"):
            seen = quiet.until_quiet(most_s)
        story.checks.append(quiet.check(seen))


def stayed(stay: Stay, story: TrialRecorder) -> None:
    """Note where the processes of a trial were placed, and whether they stayed there."""
    story.placed = stay.placed()
    if story.placed is not None and story.observation is not None:
        given = [one.label for one in story.observation.usage if one.role in story.placed.cpus]
        story.checks.append(placement.check(story.placed, given))


def host_names(case: Case) -> list[str]:
    """Return the names at which programs of a trial reach its services."""
    return [name for label, part in _named(case) for name in (label, *part.host_names())]


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


def _code_folders(ground: TrialContext, case: Case) -> list[Path]:
    """Return the folders of the code that services of a case run: they may write there."""
    parts: Sequence[Part] = case.services
    folders = [one.code(ground.suite_folder) for one in parts if isinstance(one, ServesCode)]
    trees = [tree.checkout for part in parts if (tree := ground.tree_of(part))]
    return [ground.suite_folder, *filter(None, folders), *trees]


def _network(ground: TrialContext, case: Case) -> Literal["private", "host"]:
    return "host" if any(part.outside() for part in case.services) else ground.network


def _measured(
    sandbox: Sandbox,
    inputs: TrialInputs,
    ground: TrialContext,
    scratch: Path,
    story: TrialRecorder,
    stay: Stay,
) -> None:
    case = inputs.step.case
    there = made_ready(sandbox, inputs, ground, scratch, story)
    foreign = why_foreign(sandbox, there.services)
    watched_parts = watched_of(there.services)
    with story.phase("load"), Watch(sandbox, watched_parts, foreign, stay) as watched:
        watched.leave_out(there.monitor)
        label, cpus = driver_label(case), ground.places.get("loader")
        finished = drive(
            sandbox, case.driver, there.target, label, story, watched, cpus, there.monitor
        )
        story.observation = watched.observation(inputs.folder)
    stayed(stay, story)
    asked_again(sandbox, inputs, ground, there, finished, story)
    with story.phase("stop"):
        stop(sandbox, there.services)


def watched_of(services: list[Serving]) -> dict[str, tuple[Role, Running | None]]:
    """Return the processes of services by their names, as a `Watch` takes them."""
    return {serving.name: (serving.role, serving.running) for serving in services}


def why_foreign(sandbox: Sandbox, services: list[Serving]) -> str:
    """Return why the network counts connections of others than the load tool; "" if not."""
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


def _failure(error: TrialFailed) -> Failure:
    return Failure(
        stage=error.stage,
        message=error.message,
        hint=error.hint,
        log=error.log,
        subject=error.about,
        broken=error.broken,
    )


def _start_failure(error: BenchforgeError) -> Failure:
    return Failure(stage="start", message=error.message, hint=error.hint)


def driver_label(case: Case) -> str:
    """Return the label of the driver's process."""
    return f"{case.driver.kind}-{case.name.driver}"


def _driver_log(folder: Path, case: Case) -> str:
    name = driver_label(case)
    return last_lines(folder / f"{name}.err") or last_lines(folder / f"{name}.out")
