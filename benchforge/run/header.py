"""The header of a result: everything that is known before the first trial."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime

from pydantic import JsonValue, TypeAdapter, ValidationError

from benchforge.checks.limits import limits
from benchforge.model.files.result import Header, Planned, fingerprint
from benchforge.model.suite.code import OWN
from benchforge.model.values.distribution import own_version
from benchforge.parts.part import Part, RunsPython
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.programs.needed import as_they_say, no_site
from benchforge.run.programs.runtimes import Ready, needed_modules, own
from benchforge.run.trial.context import TrialContext
from benchforge.stats.inference.stopping import recorded
from benchforge.suite.cases.case import code_digests
from benchforge.suite.cases.parts import distinct_parts, parts_on
from benchforge.suite.claims.of_kept_suite import asked_of, uses
from benchforge.suite.plan import RunGraph
from benchforge.suite.scenarios.search import finds_of
from benchforge.suite.scenarios.turns import all_turns
from benchforge.suite.secrets import redact, redacted
from benchforge.suite.suite import Suite

_OF_SUITE = ("name", "title", "profile", "smoke", "only", "verdict_rules", "code")
_JSON: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def header_of(suite: Suite, graph: RunGraph, context: TrialContext) -> Header:
    """Return the header, without secrets; each part's program reports its version, once."""
    declared = [(case.name, case.declared_s) for case in graph.cases]
    names = tuple(name for name, _ in declared)
    planned = [
        Planned(
            block=step.block,
            position=step.position,
            case=declared[step.number][0],
            seed=step.seed,
            declared_s=declared[step.number][1],
        )
        for step in graph.steps()
    ]
    questions = asked_of(suite.scenarios, suite.tables, suite.claims, names)
    interpreters, locks = _interpreters(suite, context), locks_of(context)
    sha256 = {label: hashlib.sha256(lock.encode()).hexdigest() for label, lock in locks.items()}
    digests = code_digests(distinct_parts(suite), suite)
    for mix in suite.workloads.values():
        digests |= mix.files
    header = Header(
        **{name: getattr(suite, name) for name in _OF_SUITE},
        created=datetime.now(UTC),
        benchforge=own_version(),
        settings=dict(suite.settings),
        suite=suite.text,
        suite_file=str(suite.path.absolute()),
        suite_sha256=hashlib.sha256(suite.text.encode()).hexdigest(),
        seed=graph.seed,
        plan=tuple(planned),
        until=recorded(graph.until, sum(len(claim.instances) for claim in questions.claims)),
        cases=names,
        searches=finds_of(suite),
        turns=all_turns(suite),
        bridges={key: bridge for key, bridge in suite.bridges.items() if key in suite.scenarios},
        latencies=dict(suite.latencies),
        titles=dict(questions.titles),
        clients=questions.clients,
        metrics=tuple(uses(suite.metrics)),
        scenario_metrics=dict(questions.takes),
        tables=dict(questions.tables),
        claims=questions.claims,
        hosts=dict(context.hosts),
        placement={role: str(cpus) for role, cpus in context.places.items()},
        versions=_versions(suite, interpreters, context),
        runtimes={
            label: interpreter.facts.model_copy(update={"lock_sha256": sha256.get(label)})
            for label, interpreter in interpreters.items()
        },
        code_digests=digests,
        facts=dict(context.facts),
        fingerprint=fingerprint(context.facts),
        thresholds_version=limits().version,
    )
    return redacted(header, suite.secrets)


def with_facts(
    header: Header,
    by_plugin: Mapping[str, object],
    secrets: Collection[str],
    complain: Callable[[str], None],
) -> Header:
    """Return the header with what plugins know of the machine, under the name of each."""
    facts = dict(header.facts)
    for plugin, fact in by_plugin.items():
        try:
            facts[plugin] = _JSON.validate_python(fact)
        except ValidationError:
            complain(f"plugin {plugin}: benchforge_facts: no JSON, left out: {fact!r:.100}")
    return redacted(header.model_copy(update={"facts": facts}), secrets)


def locks_of(context: TrialContext) -> dict[str, str]:
    """Return the pinned packages of each runtime that was built, as they are kept."""
    locks = {label: runtime.lock for label, runtime in context.runtimes.items() if runtime.lock}
    return {label: redact(lock, context.secrets) for label, lock in locks.items()}


def _interpreters(suite: Suite, context: TrialContext) -> dict[str, Ready]:
    """Return every interpreter of a part, with the versions of its own modules."""
    needed = needed_modules(distinct_parts(suite))
    return {
        label: own(modules) if label == OWN else context.runtimes[label]
        for label, modules in needed.items()
    }


def _versions(
    suite: Suite, interpreters: Mapping[str, Ready], context: TrialContext
) -> dict[str, str]:
    """Return what modules and programs are: of the packages by their metadata, else as they say."""
    versions = {
        _on(name, label): version
        for label, interpreter in interpreters.items()
        for name, version in interpreter.brings.items()
    }
    return versions | reported_versions(parts_on(suite, None), context) | dict(context.versions)


def reported_versions(parts_: Iterable[Part], context: TrialContext) -> dict[str, str]:
    """Return what the programs of parts on this machine say that they are."""
    parts: dict[str, Part] = {}
    for part in parts_:
        runtime = part.runtime if isinstance(part, RunsPython) else None
        parts.setdefault(_on(f"{part.kind}-{part.software}", runtime or OWN), part)
    with scratch_folder() as folder:
        asking = {
            label: part.version(
                no_site(folder, context.python_of(part), context.programs, context.suite_folder)
            )
            for label, part in parts.items()
        }
        commands = {label: command for label, command in asking.items() if command is not None}
        if commands:
            with context.host.trial(folder, "host") as sandbox:
                return as_they_say(commands, sandbox, folder)
    return {}


def _on(name: str, runtime: str) -> str:
    return name if runtime == OWN else f"{name} ({runtime})"
