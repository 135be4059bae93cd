"""JSON Schema of suites, for editors: the tables, and the options of all installed parts."""

import json
from collections.abc import Iterable, Mapping

from benchforge.cli.console.say import warn
from benchforge.cli.suites.schema.json_schema import (
    ANY,
    DRAFT,
    UNKNOWN,
    Schema,
    file_schema,
    leaves,
    partial,
    portable,
    table,
)
from benchforge.errors import Unusable
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.suite.claim import Gate, VerdictRules
from benchforge.model.suite.code import Runtime
from benchforge.model.suite.placement import EngineTable, HostTable, Placement, Tuning
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.frozen import Frozen
from benchforge.parts.kinds import Kind
from benchforge.parts.part import Part
from benchforge.parts.registry import Registry, brought
from benchforge.suite.claims.pivots import PivotTable
from benchforge.suite.claims.where import ClaimTable as Claim
from benchforge.suite.declared import HOST, KINDS, STAR
from benchforge.suite.load import FORMAT, Top
from benchforge.suite.matrix import ROLES
from benchforge.suite.measuring.tables import LIMITS, SYSCTL
from benchforge.suite.mix.tables import Feed, FlowStep, KindRequest, RequestKind, UserSession
from benchforge.suite.suite import Repeat, Scenario
from benchforge.text import safe

_LABEL = portable(r"^\w[\w-]*$")
# As `axis` understands a path.
_VARIED = rf"^(path\.[^.]+|({'|'.join(ROLES)})(\.[^.]+){{2,}})$"

_TABLES = {
    "servers": "Servers that answer the requests: [servers.LABEL]. `use` names the part.",
    "backends": "Backends that servers need: [backends.LABEL]. `use` names the part.",
    "loaders": "Load tools: [loaders.LABEL]. `use` names the part.",
    "clients": "HTTP libraries that send requests: [clients.LABEL]. `use` names the part.",
    "metrics": "Quantities to compute from each trial: [metrics.LABEL]. `use` names the part. "
    "Default: a standard set.",
    "runtimes": "Interpreters with packages: [runtimes.LABEL].",
    "hosts": "Machines that run parts of trials: [hosts.LABEL].",
    "feeds": "Values for the holes of requests: [feeds.LABEL].",
    "scenarios": "Scenarios to measure: [scenarios.LABEL].",
    "tables": "Tables in reports: [tables.LABEL].",
    "claims": "Statements about cases: [claims.LABEL]. A run decides whether each holds, fails, is "
    "inconclusive or invalid.",
    "profiles": "Changes that --profile LABEL applies: tables merge, other values replace.",
}

_HOST = "Label of the host in [hosts.LABEL] that runs the part. Default: its role's in \
[placement.hosts], else this machine."

_PLACED = {
    "description": "CPUs of each role: `auto` separates the load tool from other parts, and a "
    "table names CPUs. Default: all processes share all CPUs.",
    "default": "off",
}

_OTHER_FILES = (Trial, Summary, Session, Ceiling, Manifest, Calibration)
_FILES: dict[str, type[Frozen]] = {file.__name__.lower(): file for file in _OTHER_FILES}
_FILES["result"] = Header


def suite_schema(registry: Registry) -> tuple[Schema, list[str]]:
    """Return the schema of the suites that the loader takes, and a line for each part it lacks.

    It refuses nothing that the loader takes, profiles apart: content of a profile only is
    missing without it. A plugin that is broken leaves out its own parts.
    """
    left_out: list[str] = []
    kinds = {name: dict(_parts(kind, registry, left_out)) for name, kind in KINDS.items()}
    top = table(Top)
    top["properties"]["benchforge"] |= {"const": FORMAT}
    tables = {
        **{
            name: _labelled(name, _declared(kinds[name], kind), _in_profile(kinds[name], kind))
            for name, kind in KINDS.items()
        },
        "runtimes": _labelled("runtimes", table(Runtime, environment=True)),
        "hosts": _labelled("hosts", table(HostTable)),
        "feeds": _labelled("feeds", table(Feed)),
        "scenarios": _labelled("scenarios", _scenario()),
        "tables": _labelled("tables", _drawn()),
        "claims": _labelled("claims", table(Claim)),
        "verdicts": table(VerdictRules),
        "repeat": table(Repeat),
        "engine": table(EngineTable),
        "gate": table(Gate),
        "tuning": _tuning(),
        "placement": {"anyOf": [{"enum": ["auto", "off"]}, table(Placement)], **_PLACED},
    }
    tables["scenarios"]["minProperties"] = 1
    profiles = _labelled("profiles", _profile(top, tables, kinds))
    definitions = {**leaves()}
    for name, parts in kinds.items():
        definitions |= {f"{KINDS[name]}-{part}": made for part, made in parts.items()}
    schema = {
        "$schema": DRAFT,
        "title": "A suite of benchforge",
        "type": "object",
        "properties": {**top["properties"], **tables, "profiles": profiles},
        "required": ["benchforge", "scenarios"],
        "additionalProperties": UNKNOWN,
        "$defs": definitions,
    }
    return schema, left_out


def _parts(kind: Kind, registry: Registry, left_out: list[str]) -> Iterable[tuple[str, Schema]]:
    for name in registry.names(kind):
        try:
            cls = registry.part(kind, name)
        except Unusable as error:
            left_out.append(f"left out: {kind} {name}: {error.message}")
            continue
        try:
            yield name, _part(name, cls, on_host=kind != "metric")
        except Exception as error:  # noqa: BLE001 - a plugin is somebody else's code
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            left_out.append(f"options are not checked: {kind} {name}: {reason}")
            yield name, {"type": "object", "additionalProperties": True}


def _part(name: str, cls: type[Part], *, on_host: bool) -> Schema:
    made = table(cls, environment=True)
    host = {HOST: {"type": "string", "description": _HOST}} if on_host else {}
    use = {"const": name, "description": made.get("description", "")}
    return {
        **made,
        "properties": {"use": use, **host, **made["properties"]},
        "required": ["use", *made.get("required", ())],
    }


def _declared(parts: Mapping[str, Schema], kind: Kind) -> Schema:
    """Return the schema of a part by its `use`: one `if` a part, so that one fault is one error.

    The sentences of options stand outside as well: tombi shows nothing that is in a `then`.
    """
    described = {name: {**ANY, **_description(takes)} for name, takes in _options(parts).items()}
    return {
        "type": "object",
        "properties": {"use": _use(parts, kind), **described},
        "required": ["use"],
        "additionalProperties": True,
        "allOf": [
            {
                "if": {"properties": {"use": {"const": name}}, "required": ["use"]},
                "then": {"$ref": f"#/$defs/{kind}-{name}"},
            }
            for name in parts
        ],
    }


def _use(parts: Mapping[str, Schema], kind: Kind) -> Schema:
    descriptions = [part.get("description", "").partition("\n")[0] for part in parts.values()]
    return {
        "enum": list(parts),
        "description": f"The {kind}.",
        "x-taplo": {"docs": {"enumValues": descriptions}},
    }


def _in_profile(parts: Mapping[str, Schema], kind: Kind) -> Schema:
    """Return the schema of some options of a part whose kind a profile does not name."""
    all_closed = all(part["additionalProperties"] is not True for part in parts.values())
    options = {option: _either(takes) for option, takes in _options(parts).items()}
    return {
        "type": "object",
        "properties": {"use": _use(parts, kind), **options},
        "additionalProperties": UNKNOWN if all_closed else True,
    }


def _options(parts: Mapping[str, Schema]) -> dict[str, dict[str, Schema]]:
    options: dict[str, dict[str, Schema]] = {}
    for part, made in parts.items():
        for option, takes in made.get("properties", {}).items():
            if option != "use":
                options.setdefault(option, {})[part] = takes
    return dict(sorted(options.items()))


def _either(options: Mapping[str, Schema]) -> Schema:
    takes: list[Schema] = []
    for option in options.values():
        plain = {key: item for key, item in option.items() if key not in {"description", "default"}}
        if (plain := partial(plain)) not in takes:
            takes.append(plain)
    return {**(takes[0] if len(takes) == 1 else {"anyOf": takes}), **_description(options)}


def _description(options: Mapping[str, Schema]) -> Schema:
    """Return the sentences of an option that several parts have, each once, with its parts."""
    parts_by_text: dict[str, list[str]] = {}
    for part, option in options.items():
        parts_by_text.setdefault(option.get("description", ""), []).append(part)
    lines = [f"{', '.join(parts)}: {text}" for text, parts in parts_by_text.items() if text]
    return {"description": "\n\n".join(lines)} if lines else {}


def _labelled(name: str, labelled: Schema, starred: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "description": _TABLES[name],
        "patternProperties": {_LABEL: labelled},
        "additionalProperties": UNKNOWN,
        **({"properties": {STAR: starred}} if starred else {}),
    }


def _scenario() -> Schema:
    made, request = table(Scenario), table(Request, environment=True)
    keys = made["properties"]
    keys["request"] |= request
    keys["requests"] |= {"additionalProperties": request}
    kind = table(RequestKind)
    kind["properties"]["request"] |= table(KindRequest, environment=True)
    step = table(FlowStep)
    step["properties"]["request"] |= table(KindRequest, environment=True)
    kind["properties"]["steps"] |= {"items": step}
    keys["kinds"] |= {"patternProperties": {_LABEL: kind}, "additionalProperties": UNKNOWN}
    session = table(UserSession)
    session["properties"]["request"] |= table(KindRequest, environment=True)
    keys["session"] |= session
    point = {"type": "object", "patternProperties": {_VARIED: ANY}, "additionalProperties": UNKNOWN}
    keys["vary"] |= {**point, "patternProperties": {_VARIED: {"type": "array", "minItems": 1}}}
    keys["include"] |= {"items": point}
    keys["exclude"] |= {"items": {**point, "minProperties": 1}}
    made["allOf"] = [_one_of_two("loaders", "clients")]
    return made


def _drawn() -> Schema:
    made = table(PivotTable)
    made["properties"]["show"] |= {"minItems": 1}
    made["allOf"] = [_one_of_two("scenario", "scenarios"), _one_of_two("metric", "metrics")]
    return made


def _one_of_two(key: str, other: str) -> Schema:
    """Return the requirement of one of two keys. An `if` lets editors name the missing one."""
    return {"if": {"not": {"required": [other]}}, "then": {"required": [key]}}


def _tuning() -> Schema:
    made = table(Tuning)
    sysctl, limits = made["properties"]["sysctl"], made["properties"]["limits"]
    sysctl["patternProperties"] = {portable(SYSCTL): sysctl["additionalProperties"]}
    limits["properties"] = dict.fromkeys(LIMITS, limits["additionalProperties"])
    for options in (sysctl, limits):
        options["additionalProperties"] = UNKNOWN
    return made


def _profile(
    top: Schema, tables: Mapping[str, Schema], kinds: Mapping[str, Mapping[str, Schema]]
) -> Schema:
    keys = {**top["properties"], **{name: partial(made) for name, made in tables.items()}}
    del keys["benchforge"]
    for name, parts in kinds.items():
        partial_table = _in_profile(parts, KINDS[name])
        keys[name] = _labelled(name, partial_table, partial_table)
    return {"type": "object", "properties": keys, "additionalProperties": UNKNOWN}


def of_file(name: str) -> str:
    """Return the schema of a file of a result as it is written."""
    return _text(file_schema(_FILES[name]))


def of_suites(*, builtin: bool) -> str:
    """Return the schema of suites as it is written, and warn of the parts that it lacks."""
    schema, left_out = suite_schema(Registry(brought()) if builtin else Registry())
    for line in left_out:
        warn(line)
    return _text(schema)


def _text(schema: Schema) -> str:
    return safe.as_json(json.dumps(schema, indent=2, ensure_ascii=False))
