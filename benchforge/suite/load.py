"""Text to a suite: the only place that reads TOML. What it returns needs no further question."""

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, JsonValue

from benchforge.errors import Unusable
from benchforge.model.suite.claim import VerdictRules
from benchforge.model.values.frozen import Frozen
from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import named
from benchforge.suite.cases.parts import code_faults, ref_faults
from benchforge.suite.claims.pivots import cell_faults, pivots
from benchforge.suite.claims.read import SoundClaim, sound_claims
from benchforge.suite.claims.sides import resolved
from benchforge.suite.claims.where import claim_faults, freeze_faults, outside_search, with_parts
from benchforge.suite.declared import LABELLED, declared, labelled_tables, metrics, profile_faults
from benchforge.suite.environment import Environment, hiding_faults
from benchforge.suite.matrix import ROLES
from benchforge.suite.measuring import tables as measuring
from benchforge.suite.overrides import layered, left_faults
from benchforge.suite.scenarios import references
from benchforge.suite.scenarios.scenario import scenarios
from benchforge.suite.scenarios.search import repeat_faults
from benchforge.suite.scenarios.turns import bridges, latency_faults, turns_faults
from benchforge.suite.secrets import secrets_of_suite
from benchforge.suite.suite import Labels, Parts, Repeat, Scenario, Suite
from benchforge.suite.toml.document import Document, Tables, as_table
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked, table_of
from benchforge.suite.toml.source import parsed, read, sound
from benchforge.text.readable import too_many
from benchforge.text.safe import HIDDEN

if TYPE_CHECKING:
    from benchforge.model.files.result import Header
    from benchforge.suite.mix.stream import Mix

_MOST_POINTS = 1_000_000
_NOWHERE = Path("/a-folder-that-no-machine-has/suite.toml")
FORMAT = 1
"Of suites: what `benchforge = 1` at their top says."


class Top(Frozen):
    """The keys at the top of a suite that are no tables."""

    benchforge: int
    "Version of the suite format."
    name: str | None = Field(default=None, pattern=r"^\w[\w.-]*$")
    "Name of the suite, and the first part of the name of result folders."
    title: str = ""
    "Title in every report."
    only: tuple[str, ...] = ()
    "Labels of the scenarios to run. Default: all."
    smoke: bool = False
    """Smoke mode: a short run that shows that everything works. Its numbers mean nothing. Usually \
set in a profile."""
    network: Literal["private", "host"] = "private"
    "Network of the trials: a private network for each trial, or the network of the machine."
    sockets: tuple[str, ...] = ()
    """Absolute paths of the machine's sockets, or of folders of them, to which programs of a \
trial may connect. Others are covered in a private network."""
    writes: tuple[str, ...] = ()
    """Folders that programs of a trial may change, relative to the suite's folder. Default: none \
but those of the trial; what a program writes beside the code of a server goes with the trial."""


TABLES = (*LABELLED, "verdicts", "repeat", "tuning", "placement", "engine", "gate", "profiles")


@dataclass(frozen=True)
class SuiteCall:
    """What a command line says of a suite."""

    path: Path
    profile: str | None = None
    settings: Sequence[tuple[str, str]] = ()
    only: Sequence[str] = ()
    digests: Mapping[str, str] | None = None
    """Digests of code and data of a text whose secrets are hidden already, that of a result or on \
a host; None for another."""
    feeds: bool = True
    "True if the files of feeds are there."


def load(
    path: str | os.PathLike[str],
    registry: Registry,
    *,
    profile: str | None = None,
    settings: Sequence[tuple[str, str]] = (),
    only: Sequence[str] = (),
    text: str | None = None,
) -> Suite:
    """Read a suite, or `text` instead of its file, and resolve all names. Raises SuiteErrors."""
    written = read(path) if text is None else parsed(os.fspath(path), text)
    call = SuiteCall(Path(path), profile, settings, only)
    return _resolved(written, call, registry, os.environ.get)


def load_on_host(
    text: str, call: SuiteCall, registry: Registry, tells: Callable[[str], str | None]
) -> Suite:
    """Read a suite's text on a host; `tells` reads the environment. Raises SuiteErrors."""
    return _resolved(parsed(os.fspath(call.path), text), call, registry, tells)


def _resolved(
    written: Document, call: SuiteCall, registry: Registry, tells: Callable[[str], str | None]
) -> Suite:
    document = layered(written, call.profile, call.settings, registry)
    sound(_format(document), document)  # whatever else is wrong by format 1 need not be wrong
    environment = Environment(tells)
    reading = _suite(document, written.tables, call, registry, environment)
    suite, claims = sound(reading, document, environment.used)
    return sound(_with_cases(suite, claims), document, environment.used)


def of_result(header: "Header", registry: Registry) -> Suite:
    """Return the suite of a result with the scenarios that were run, from its header alone.

    Secrets are hidden. Raises SuiteErrors where the text is no suite any more, or names a part that
    is not installed, and Unusable for too many combinations.
    """
    from benchforge.model.files.folder import HEADER  # noqa: PLC0415 - it brings all models of files

    settings = tuple(header.settings.items())
    document = layered(parsed(HEADER, header.suite), header.profile, settings, registry)
    tables = [as_table(value) for value in as_table(document.tables.get("scenarios")).values()]
    varied = ([*as_table(table.get("vary")).values()] for table in tables)
    points = sum(math.prod(len(axis) for axis in axes if isinstance(axis, list)) for axes in varied)
    if points > _MOST_POINTS:
        raise Unusable(too_many(points, _MOST_POINTS, "combinations"))
    digests = header.code_digests or {}
    call = SuiteCall(_NOWHERE, header.profile, settings, header.only, digests, False)
    environment = Environment(lambda _: HIDDEN)
    suite, _ = sound(_suite(document, document.tables, call, registry, environment), document)
    wanted = {label: suite.scenarios[label] for label in suite.only or suite.scenarios}
    return replace(suite, scenarios=wanted, code=header.code)


def _suite(
    document: Document, file: Tables, call: SuiteCall, registry: Registry, environment: Environment
) -> Checked[tuple[Suite, Mapping[str, SoundClaim]]]:
    """Return the suite with all of its scenarios and no claim, and the claims without cases.

    `file` are the tables of the file, without the profile and settings of the document.
    """
    tables = document.tables
    top = yield from _top(tables, call)
    yield from left_faults(tables, registry)
    labelled = yield from labelled_tables(tables)
    yield from profile_faults(file, [*Top.model_fields, *TABLES])
    # Of all labels, also of what is no sound table: it has a fault of its own.
    labels = {k: (*dict.fromkeys((*v, *as_table(tables.get(k)))),) for k, v in labelled.items()}
    parts = yield from declared(labelled, registry, environment)
    measured = metrics(parts["metrics"])
    yield from _reference_faults(parts, labels, call)
    interpreters = yield from references.runtimes(labelled["runtimes"], environment)
    by_label = yield from scenarios(labelled["scenarios"], labels, parts, environment)
    repeat = yield from measuring.repeated(document, call.profile)
    workloads = yield from _workloads(labelled["feeds"], by_label, parts, repeat, call)
    by_label, bridged = yield from bridges(by_label, repeat)
    labels["scenarios"] = tuple(dict.fromkeys((*labels["scenarios"], *bridged)))
    machines, by_role = yield from measuring.hosts(tables, labelled["hosts"], parts)
    pivot_tables = outside_search(labelled["tables"], document)
    drawn = yield from pivots(pivot_tables, labels["metrics"], labels["scenarios"], by_label)
    claim_tables = outside_search(labelled["claims"], document)
    claims = yield from sound_claims(claim_tables, measured, labels, by_label)
    if not tables.get("scenarios") and not get_close_matches("scenarios", tables, 1):
        yield Fault((), "no scenario is declared", "write [scenarios.LABEL]")
    yield from latency_faults(by_label, parts, repeat)
    beside = {k: it.latency_of for k, it in by_label.items() if it.latency_of} | bridged
    chosen = yield from _chosen(top.only, call.only, labels["scenarios"], beside)
    keys = measuring.said_of_profile(document, call.profile)
    yield from repeat_faults(by_label, chosen, repeat, keys)
    yield from references.port_faults(by_label, parts)
    yield from turns_faults(by_label, parts, repeat, tables.get("repeat"), top.network)
    literal = [*secrets_of_suite(tables), *secrets_of_suite(file)]
    if call.digests is None:
        yield from hiding_faults(tables, literal, environment.used)
    same = ("title", "smoke", "network", "sockets", "writes")
    fields: dict[str, Any] = {key: getattr(top, key) for key in same}
    fields |= {table: parts[table] for table in ROLES}
    suite = Suite(
        **fields,
        path=call.path,
        text=document.text,
        document=document,
        name=top.name or (re.sub(r"[^\w.-]+", "-", call.path.stem).strip(".-") or "suite"),
        profile=call.profile,
        runtimes=interpreters,
        metrics=measured,
        scenarios=by_label,
        only=chosen if top.only or call.only else (),
        repeat=repeat,
        workloads=workloads,
        bridges=bridged,
        verdict_rules=(yield from table_of(VerdictRules, tables, "verdicts")),
        gate=(yield from measuring.gate_of(tables, labels)),
        tuning=(yield from measuring.tuning(tables)),
        placement=(yield from measuring.placement(tables)),
        tables=drawn,
        settings=dict(call.settings),
        code_digests=call.digests,
        engine=(yield from measuring.engine_of(tables)),
        hosts=machines,
        hosts_by_role=by_role,
        secrets=frozenset([*environment.used, *(secret for _, secret in literal)]),
    )
    if suite.hosts:
        from benchforge.suite.measuring.host_faults import faults  # noqa: PLC0415 - few suites

        yield from faults(suite, suite.scenarios)
    return suite, claims


def _reference_faults(parts: Parts, labels: Labels, call: SuiteCall) -> Checked[None]:
    yield from references.upstream_faults(parts["servers"], labels["servers"])
    if call.digests is None:
        yield from ref_faults(parts["servers"], call.path.parent)
    yield from references.part_faults(parts, labels)


def _workloads(
    feeds: Mapping[str, Tables],
    by_label: Mapping[str, Scenario],
    parts: Parts,
    repeat: Repeat,
    call: SuiteCall,
) -> Checked[dict[str, "Mix"]]:
    if not feeds and not any(scenario.kinds for scenario in by_label.values()):
        return {}
    from benchforge.suite.scenarios.kinds import workloads_of  # noqa: PLC0415 - few suites have kinds

    files = call.path.parent if call.feeds else None, call.digests or {}
    return (yield from workloads_of(feeds, by_label, parts, repeat, *files))


def _with_cases(suite: Suite, claims: Mapping[str, SoundClaim]) -> Checked[Suite]:
    """Return a sound suite with its claims and the scenarios to run; yield faults of its cases."""
    yield from cell_faults(suite.tables, suite)
    made = yield from resolved(claims, lambda name: with_parts(named(suite, name), suite.scenarios))
    yield from freeze_faults(suite, lambda label: named(suite, label))
    yield from claim_faults(made, suite)
    wanted = {label: suite.scenarios[label] for label in suite.only or suite.scenarios}
    suite = replace(suite, scenarios=wanted, claims=made)
    yield from code_faults(suite) if suite.code_digests is None else ()
    return suite


def _format(document: Document) -> Checked[None]:
    version = document.tables.get("benchforge")
    if isinstance(version, int) and not isinstance(version, bool) and version != FORMAT:
        hint = "this benchforge reads format 1; a newer one may read this suite"
        yield Fault(("benchforge",), f"expected {FORMAT}, got {version}", hint)
    yield from _nul_faults(document.tables, ())


def _nul_faults(value: JsonValue, path: tuple[str | int, ...]) -> Checked[None]:
    """Yield the texts that no file, program or variable can have; a body of a request may."""
    if isinstance(value, str):
        if "\0" in value:
            yield Fault(path, "a text with a NUL character", "leave it out")
        return
    pairs = value.items() if isinstance(value, dict) else ()
    for step, inner in pairs or enumerate(value if isinstance(value, list) else ()):
        if not str(step).endswith(("body", "expect")):
            yield from _nul_faults(inner, (*path, step))


def _top(tables: Tables, call: SuiteCall) -> Checked[Top]:
    if tables.get("benchforge") is None:
        hint = f"write benchforge = {FORMAT} as the first line: the format of the suite"
        yield Fault((), "'benchforge' is missing", hint)
    keys = [*Top.model_fields, *TABLES]
    for key in tables.keys() - set(keys):
        yield Fault((key,), "unknown key", Nearest(key, keys, "a suite takes"))
    written = {key: value for key, value in tables.items() if key in Top.model_fields}
    top = yield from checked(Top, {"benchforge": FORMAT, **written}, ())
    folder, is_read_here = call.path.parent, call.digests is None
    for number, path in enumerate(top.writes if top and is_read_here else ()):
        if not (folder / path).is_dir():
            hint = f"it is relative to the suite's folder, {folder.absolute()}"
            yield Fault(("writes", number), f"no folder {(folder / path).resolve()}", hint)
    for number, path in enumerate(top.sockets if top and is_read_here else ()):
        if not path.startswith("/"):
            hint = "write the whole path, such as /run/postgresql"
            yield Fault(("sockets", number), f"{path!r} is not an absolute path", hint)
    return top or Top(benchforge=FORMAT)


def _chosen(
    in_suite: Sequence[str], only: Sequence[str], labels: Sequence[str], bridged: Mapping[str, str]
) -> Checked[tuple[str, ...]]:
    for label in only:
        if label not in labels:
            hint = Nearest(label, labels, "scenarios")
            yield Fault((), "no such scenario", hint, option=f"--only {label}")
    for number, label in enumerate(in_suite):
        if label not in labels:
            hint = Nearest(label, labels, "scenarios")
            yield Fault(("only", number), f"no scenario {label!r} is declared", hint)
    wanted = only or in_suite or labels
    return tuple(label for label in labels if label in wanted or bridged.get(label) in wanted)
