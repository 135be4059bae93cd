"""The header of a result: everything that is known before the first trial."""

import hashlib
import importlib.metadata
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from pydantic import JsonValue, TypeAdapter, ValidationError

from benchforge.checks.limits import limits
from benchforge.graph import RunGraph
from benchforge.model.code import Code
from benchforge.model.environment import fingerprint
from benchforge.model.result import Header, MetricUse, Planned
from benchforge.model.runtime import OWN, Interpreter
from benchforge.parts.part import Metric, Part, RunsPython
from benchforge.run.ground import Ground
from benchforge.run.ready import Ready, needed_modules, own
from benchforge.run.scratch import scratch_folder
from benchforge.run.versions import as_they_say, no_site
from benchforge.suite.asks import asked_of
from benchforge.suite.find import finds_of
from benchforge.suite.parts import distinct_parts
from benchforge.suite.redact import redact
from benchforge.suite.suite import Suite

_JSON: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def header_of(suite: Suite, graph: RunGraph, ground: Ground) -> Header:
    """Return the header; each part's program is asked for its version, once."""
    told = [(case.name, case.declared_s) for case in graph.cases]
    names = tuple(name for name, _ in told)
    planned = [
        Planned(
            block=step.block,
            position=step.position,
            case=told[step.number][0],
            seed=step.seed,
            declared_s=told[step.number][1],
        )
        for step in graph.steps()
    ]
    asked = asked_of(suite.scenarios, suite.tables, suite.claims, names)
    interpreters = _interpreters(suite, ground)
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
        suite_file=redact(str(suite.path.absolute()), suite.secrets),
        suite_sha256=hashlib.sha256(suite.text.encode()).hexdigest(),
        seed=graph.seed,
        plan=tuple(planned),
        until=graph.until,
        cases=names,
        finds=finds_of(suite),
        titles=dict(asked.titles),
        metrics=tuple(uses(suite.metrics)),
        takes=dict(asked.takes),
        tables=dict(asked.tables),
        claims=asked.claims,
        placement={role: str(cpus) for role, cpus in ground.places.items()},
        versions=_versions(suite, interpreters, ground),
        runtimes={
            label: _with_lock(one.facts, locks.get(label)) for label, one in interpreters.items()
        },
        code=tuple(_redacted(one, suite.secrets) for one in suite.code),
        facts=dict(ground.facts),
        fingerprint=fingerprint(ground.facts),
        limits=limits().version,
    )


def uses(metrics: Mapping[str, Metric]) -> Iterator[MetricUse]:
    """Yield the metrics of a suite as a header has them."""
    for label, metric in metrics.items():
        yield MetricUse(
            label=label,
            use=metric.name,
            options=metric.model_dump(mode="json", by_alias=True),
            unit=metric.unit,
            better=metric.better,
        )


def with_facts(
    header: Header, told: Mapping[str, object], complain: Callable[[str], None]
) -> Header:
    """Return the header with what plugins know of the machine, under the name of each."""
    facts = dict(header.facts)
    for plugin, said in told.items():
        try:
            facts[plugin] = _JSON.validate_python(said)
        except ValidationError:
            complain(f"plugin {plugin}: benchforge_facts: no JSON, left out: {said!r:.100}")
    return header.model_copy(update={"facts": facts})


def locks_of(ground: Ground) -> dict[str, str]:
    """Return the pinned packages of each runtime that was built, as they are kept."""
    locks = {label: one.lock for label, one in ground.runtimes.items() if one.lock}
    return {label: redact(lock, ground.secrets) for label, lock in locks.items()}


def _redacted(code: Code, secrets: frozenset[str]) -> Code:
    """Return what is kept of a server's code: a path or a name may hold a secret."""
    texts = ("directory", "ref", "repository", "why")
    told = {name: redact(text, secrets) for name in texts if (text := getattr(code, name))}
    return code.model_copy(update=told)


def _with_lock(facts: Interpreter, lock: str | None) -> Interpreter:
    if lock is None:
        return facts
    return facts.model_copy(update={"lock_sha256": hashlib.sha256(lock.encode()).hexdigest()})


def _interpreters(suite: Suite, ground: Ground) -> dict[str, Ready]:
    """Return every interpreter that a part runs on; the module versions are those inside of it."""
    needed = needed_modules(distinct_parts(suite))
    return {
        label: own(modules) if label == OWN else ground.runtimes[label]
        for label, modules in needed.items()
    }


def _versions(suite: Suite, interpreters: Mapping[str, Ready], ground: Ground) -> dict[str, str]:
    """Return what modules and programs are: of the packages by their metadata, else as they say."""
    versions = {
        _on(name, label): version
        for label, interpreter in interpreters.items()
        for name, version in interpreter.brings.items()
    }
    parts: dict[str, Part] = {}
    for part in distinct_parts(suite):
        runtime = part.runtime if isinstance(part, RunsPython) else None
        parts.setdefault(_on(f"{part.kind}-{part.name}", runtime or OWN), part)
    with scratch_folder() as folder:
        asking = {
            label: part.version(
                no_site(folder, ground.python_of(part), ground.programs, ground.suite_folder)
            )
            for label, part in parts.items()
        }
        commands = {label: command for label, command in asking.items() if command is not None}
        if commands:
            with ground.host.trial(folder, "host") as here:
                versions |= as_they_say(commands, here, folder)
    return versions


def _on(name: str, runtime: str) -> str:
    return name if runtime == OWN else f"{name} ({runtime})"
