"""The header of a result: everything that is known before the first trial."""

import hashlib
import importlib.metadata
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchforge.errors import BenchforgeError
from benchforge.graph import RunGraph
from benchforge.model.result import Header, MetricUse, Planned
from benchforge.model.runtime import OWN, Interpreter
from benchforge.parts.command import Command
from benchforge.parts.part import Part, RunsPython
from benchforge.parts.site import Site
from benchforge.run.facts import facts
from benchforge.run.ground import Ground
from benchforge.run.ready import Ready, needed_modules, own
from benchforge.run.scratch import scratch_folder
from benchforge.run.tasks import located
from benchforge.suite.case import Case
from benchforge.suite.redact import redact
from benchforge.suite.suite import Suite

_VERSION_WITHIN_S = 10.0


def header_of(suite: Suite, cases: list[Case], graph: RunGraph, ground: Ground) -> Header:
    """Return the header; each part's program is asked for its version, once."""
    planned = [
        Planned(
            block=step.block,
            position=step.position,
            case=step.case.name,
            seed=step.seed,
            declared_s=step.case.declared_s,
        )
        for step in graph.measures
    ]
    interpreters = _interpreters(cases, ground)
    locks = locks_of(ground)
    return Header(
        name=suite.name,
        title=suite.title,
        created=datetime.now(UTC),
        benchforge=importlib.metadata.version("benchforge"),
        profile=suite.profile,
        smoke=suite.smoke,
        settings={path: redact(value, suite.secrets) for path, value in suite.settings.items()},
        only=suite.only,
        suite=redact(suite.text, suite.secrets),
        suite_sha256=hashlib.sha256(suite.text.encode()).hexdigest(),
        seed=graph.seed,
        plan=tuple(planned),
        cases=tuple(case.name for case in cases),
        titles={label: one.title for label, one in suite.scenarios.items() if one.title},
        metrics=tuple(
            MetricUse(
                label=label,
                use=metric.name,
                options=metric.model_dump(mode="json", by_alias=True),
                unit=metric.unit,
                better=metric.better,
            )
            for label, metric in suite.metrics.items()
        ),
        takes={
            label: one.metrics for label, one in suite.scenarios.items() if one.metrics is not None
        },
        tables={
            label: pivot
            for label, pivot in suite.tables.items()
            if any(pivot.has(case.name) for case in cases)
        },
        versions=_versions(cases, interpreters, ground),
        runtimes={
            label: _with_lock(one.facts, locks.get(label)) for label, one in interpreters.items()
        },
        facts=facts(),
    )


def locks_of(ground: Ground) -> dict[str, str]:
    """Return the pinned packages of each runtime that was built, as they are kept."""
    locks = {label: one.lock for label, one in ground.runtimes.items() if one.lock}
    return {label: redact(lock, ground.secrets) for label, lock in locks.items()}


def _with_lock(facts: Interpreter, lock: str | None) -> Interpreter:
    if lock is None:
        return facts
    return facts.model_copy(update={"lock_sha256": hashlib.sha256(lock.encode()).hexdigest()})


def _interpreters(cases: list[Case], ground: Ground) -> dict[str, Ready]:
    """Return every interpreter that a part runs on; the module versions are those inside of it."""
    needed = needed_modules(part for case in cases for part in case.parts)
    return {
        label: own(modules) if label == OWN else ground.runtimes[label]
        for label, modules in needed.items()
    }


def _versions(
    cases: list[Case], interpreters: Mapping[str, Ready], ground: Ground
) -> dict[str, str]:
    """Return what modules and programs are: of the packages by their metadata, else as they say."""
    versions = {
        _on(name, label): version
        for label, interpreter in interpreters.items()
        for name, version in interpreter.brings.items()
    }
    parts: dict[str, Part] = {}
    for part in (part for case in cases for part in case.parts):
        runtime = part.runtime if isinstance(part, RunsPython) else None
        parts.setdefault(_on(f"{part.kind}-{part.name}", runtime or OWN), part)
    with scratch_folder() as folder:
        asking = {
            label: part.version(_no_site(ground, part, folder)) for label, part in parts.items()
        }
        commands = {label: command for label, command in asking.items() if command is not None}
        if commands:
            versions |= _as_they_say(commands, ground, folder)
    return versions


def _on(name: str, runtime: str) -> str:
    return name if runtime == OWN else f"{name} ({runtime})"


def _as_they_say(commands: dict[str, Command], ground: Ground, folder: Path) -> dict[str, str]:
    said: dict[str, str] = {}
    with ground.host.trial(folder, "host") as here:
        for label, command in commands.items():
            try:
                done = here.run(label, located(command), folder, {}, _VERSION_WITHIN_S)
            except BenchforgeError as error:
                said[label] = f"unknown: {error}"
                continue
            text = done.stdout.read_text(errors="replace") + done.stderr.read_text(errors="replace")
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            said[label] = lines[0] if lines else "unknown: it said nothing"
    return said


def _no_site(ground: Ground, part: Part, folder: Path) -> Site:
    return Site(
        label="version",
        folder=folder,
        scratch=folder,
        address="127.0.0.1",
        ports={},
        python=ground.python_of(part),
        programs=ground.programs,
        backends={},
        suite_folder=ground.suite_folder,
        as_root=ground.as_root,
    )
