"""Starting a case's services in order: backends, then the server."""

import dataclasses
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from benchforge.errors import BenchforgeError, TrialFailed
from benchforge.model.observation import Role
from benchforge.parts.command import Command, Task
from benchforge.parts.part import Service
from benchforge.parts.probe import Succeeds
from benchforge.parts.site import Site
from benchforge.run.ground import Ground
from benchforge.run.here import Here, Running, complaint
from benchforge.run.tasks import TASK_WITHIN_S, done, located
from benchforge.run.template import restored
from benchforge.suite.case import Case

PAUSE_S = 0.005


@dataclasses.dataclass(frozen=True)
class Serving:
    """A service that runs; `running` is None for one that ran already."""

    name: str
    "Of its files beside the trial: role and label."
    role: Role
    part: Service
    site: Site
    command: Command | None
    running: Running | None


def started(
    here: Here,
    ground: Ground,
    case: Case,
    seed: int,
    folders: tuple[Path, Path],
    note: Callable[[Serving], None],
) -> list[Serving]:
    """Start all services of a case, each ready before the next; the server is last.

    `folders` are the trial's own and a scratch one. `note` hears of each as soon as it runs.
    Raises TrialFailed when one cannot be started or does not become ready.
    """
    services: list[Serving] = []
    gives: dict[str, dict[str, str]] = {}
    backends: list[tuple[str, Role, Service]] = [
        (label, "backend", part) for label, part in case.backends
    ]
    for label, role, part in [*backends, (case.name.server, "server", case.server)]:
        site = _site(here, ground, label, part, folders, gives)
        serving = _started(
            here, ground, Serving(f"{role}-{label}", role, part, site, None, None), seed
        )
        note(serving)
        services.append(serving)
        if role == "backend":
            _until_ready(here, serving)
            _do(here, serving, "verify", part.verify(site))
            gives[label] = dict(part.gives(site))
    return services


def _site(
    here: Here,
    ground: Ground,
    label: str,
    part: Service,
    folders: tuple[Path, Path],
    gives: dict[str, dict[str, str]],
) -> Site:
    folder, scratch = folders
    own = scratch / str(len(gives))  # short, whatever the label: the path of a socket has an end
    own.mkdir(mode=0o700)
    return Site(
        label=label,
        folder=folder,
        scratch=own,
        address="127.0.0.1",
        ports={name: here.free_port() for name in part.ports},
        python=ground.python_of(part),
        programs=ground.programs,
        backends=dict(gives),
        suite_folder=ground.suite_folder,
        as_root=ground.as_root,
    )


def _started(here: Here, ground: Ground, serving: Serving, seed: int) -> Serving:
    part, site = serving.part, serving.site
    for name, text in part.files(site).items():
        (site.folder / name).write_text(text)
    restored(ground.host, serving.name, part, site)
    _do(here, serving, "prepare", part.prepare(site))
    if (command := part.command(site)) is None:
        return serving
    command = located(command)
    hashing = {"PYTHONHASHSEED": str(seed)}
    running = here.start(serving.name, command, site.folder, hashing)
    return dataclasses.replace(serving, command=command, running=running)


def _do(here: Here, serving: Serving, what: str, tasks: Iterable[Task]) -> None:
    for number, task in enumerate(tasks, 1):
        label = f"{serving.name}-{what}-{number}"
        done(here, task, label, serving.site.label, serving.site.folder)


def _until_ready(here: Here, serving: Serving) -> None:
    """Wait until a backend says that it is ready. Raises TrialFailed when it never does."""
    probe = serving.part.ready(serving.site)
    if not isinstance(probe, Succeeds):
        raise BenchforgeError(f"{serving.site.label}: a backend says by a command that it is ready")
    deadline = time.monotonic() + serving.part.ready_within
    command = located(probe.command)
    while True:
        name = f"{serving.name}-ready"
        if here.run(name, command, serving.site.folder, {}, TASK_WITHIN_S).code == 0:
            return
        if serving.running is None:
            time.sleep(PAUSE_S)
        elif end := here.wait(serving.running, PAUSE_S):
            raise failed(serving, f"ended with exit code {end.code} before it was ready")
        if time.monotonic() > deadline:
            raise failed(serving, f"not ready within {serving.part.ready_within:g} s")


def failed(serving: Serving, message: str, stage: str = "start") -> TrialFailed:
    """Return a failure of a service, with the last lines of its log."""
    log = "" if serving.running is None else complaint(serving.running)
    return TrialFailed(stage, f"{serving.site.label}: {message}", log=log)
