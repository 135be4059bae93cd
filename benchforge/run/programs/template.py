"""Templates of services: built when first needed, then copied for each trial."""

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from benchforge.errors import CannotKeep, TrialFailed
from benchforge.parts.command import Task
from benchforge.parts.part import Service
from benchforge.parts.site import Site
from benchforge.run.disk.leftovers import cache, private
from benchforge.run.disk.result_writer import whole
from benchforge.run.disk.scratch import HALF, claimed, scratch_folder, use
from benchforge.run.disk.space import FREE_SOME, told_full
from benchforge.run.sandbox.host import Host, Wishes
from benchforge.run.sandbox.sandbox import Sandbox, complaint

TASK_WITHIN_S = 120.0
_copied = partial(shutil.copytree, symlinks=True, dirs_exist_ok=True)
_FICLONE = 0x40049409  # of linux/fs.h


def done(sandbox: Sandbox, task: Task, label: str, part_label: str, folder: Path) -> None:
    """Run a part's task; it prints to `folder/<label>.out` and `.err`. Raises TrialFailed."""
    finished = sandbox.run(label, task.command, folder, {}, TASK_WITHIN_S)
    if reason := task.judge(finished):
        message = f"{part_label}: {task.says}: {reason}"
        raise TrialFailed("prepare", message, log=complaint(finished))


def restored(host: Host, name: str, service: Service, site: Site) -> None:
    """Fill `site.scratch` with the service's template, if it has one.

    Templates are in the cache, or for this process's life where that is not writable. What the
    tasks print is beside the trial, in `<name>-template`. Raises TrialFailed when a task fails,
    CannotKeep when the copy cannot be written.
    """
    if not service.template(site):
        return
    templates = cache("templates")
    template = templates / _key(service, site)
    try:
        if not template.is_dir():
            _build(host, name, service, site, template)
        use(private(template))
        note = template.with_name(f"{template.name}.for")
        if not note.exists():  # or who built it was killed before the note
            for_whom = f"{service.kind} {service.name}, built for {site.label}"
            whole(note.parent, note.name, for_whom)
        # Without the times of the files, which nobody asks for, it takes half as long.
        _copied(template, site.scratch, copy_function=_cloned)
    except OSError as error:
        # shutil collects what it could not copy: source, copy and why.
        first = error.args[0][0] if isinstance(error, shutil.Error) else None
        reason = first[2] if first else str(error)
        full = told_full(reason, Path(tempfile.gettempdir()), templates)
        raise CannotKeep(
            f"{site.label}: the template cannot be copied: {full or reason}",
            FREE_SOME if full else f"see {templates} and its disk",
        ) from error


def _cloned(source: str, copy: str) -> None:
    """Copy a file, as a clone that shares its blocks where the file system makes some."""
    try:
        with Path(source).open("rb") as original, Path(copy).open("wb") as clone:
            fcntl.ioctl(clone, _FICLONE, original.fileno())
    except OSError:  # of another file system, or one that has no clones
        shutil.copyfile(source, copy)
    shutil.copymode(source, copy)


def _build(host: Host, name: str, service: Service, site: Site, template: Path) -> None:
    logs = site.folder / f"{name}-template"
    # Short, because sockets are made in it; the cache may lie deep.
    with scratch_folder() as scratch_parent:
        (scratch := scratch_parent / "0").mkdir(mode=0o700)
        with host.trial(logs, wishes=Wishes(scratch=scratch_parent, writes=())) as sandbox:
            ports = {port: sandbox.free_port() for port in site.ports}
            template_site = dataclasses.replace(
                site, folder=logs, scratch=scratch, ports=ports, address=sandbox.address, peers=()
            )
            for number, task in enumerate(service.template(template_site), 1):
                done(sandbox, task, f"{number:02}", site.label, logs)
        _store(scratch, template)


def _store(scratch: Path, template: Path) -> None:
    """Put a template into the cache at once: a folder of that name is whole, whatever happens."""
    with claimed(template.parent, HALF) as half:
        try:
            _copied(scratch, half, copy_function=shutil.copy)
            os.sync()  # the name must not reach the disk before what it stands for
            with contextlib.suppress(OSError):  # somebody else built the same meanwhile
                half.rename(template)
        finally:
            shutil.rmtree(half, ignore_errors=True)
    if not template.is_dir():
        raise NotADirectoryError(f"{template} is in the way")


def _key(service: Service, site: Site) -> str:
    """Return a digest of all that the template depends on: another key, another template."""
    # At a place that is the same for all trials, so that only what matters differs.
    nowhere = dataclasses.replace(
        site,
        folder=Path("/folder"),
        scratch=Path("/scratch"),
        address="127.0.0.1",
        peers=(),
        ports={name: number for number, name in enumerate(site.ports, 1)},
    )
    commands = [task.command for task in service.template(nowhere)]
    tasks = [(command.argv, dict(command.environment)) for command in commands]
    names = [need.name for need in service.needs() if need.name in site.programs]
    files = [site.programs[name].resolve() for name in names]
    # They tell a program from its next version without running it.
    programs = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    # Another user could not read it, and PostgreSQL refuses a folder that is not its own.
    inputs = [service.name, service.template_key(site), tasks, programs, os.getuid()]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32]
