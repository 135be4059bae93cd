"""The header of a result: everything that is known before the first trial."""

import hashlib
import importlib.metadata
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from benchforge.errors import BenchforgeError
from benchforge.graph import RunGraph
from benchforge.model.result import Header, MetricUse, Planned
from benchforge.parts.command import Command, Need
from benchforge.parts.part import Part
from benchforge.parts.site import Site
from benchforge.run.facts import facts
from benchforge.run.ground import Ground
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
        versions=_versions(cases, ground),
        facts=facts(),
    )


def _versions(cases: list[Case], ground: Ground) -> dict[str, str]:
    """Return what modules and programs are: of the packages by their metadata, else as they say."""
    every: list[Part] = [part for case in cases for part in case.parts]
    versions = dict(_of_modules(need for part in every for need in part.needs()))
    parts = {f"{part.kind}-{part.name}": part for part in reversed(every)}
    with tempfile.TemporaryDirectory(prefix="bf-") as name:
        folder = Path(name)
        asking = {label: part.version(_no_site(ground, folder)) for label, part in parts.items()}
        commands = {label: command for label, command in asking.items() if command is not None}
        if commands:
            versions |= _as_they_say(commands, ground, folder)
    return versions


def _of_modules(needs: Iterable[Need]) -> Iterable[tuple[str, str]]:
    modules = {need.name for need in needs if need.kind == "module"}
    if not modules:
        return
    distributions = importlib.metadata.packages_distributions()
    for module in sorted(modules):
        for distribution in distributions.get(module, []):
            yield distribution, importlib.metadata.version(distribution)


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


def _no_site(ground: Ground, folder: Path) -> Site:
    return Site(
        label="version",
        folder=folder,
        scratch=folder,
        address="127.0.0.1",
        ports={},
        python=ground.python,
        programs=ground.programs,
        backends={},
        suite_folder=ground.suite_folder,
        as_root=ground.as_root,
    )
