"""The parts that a suite declares: each label with its plugin's class and checked options."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from benchforge.errors import Unusable
from benchforge.parts.kinds import OF_SUITES, Kind
from benchforge.parts.part import Metric
from benchforge.parts.registry import Registry
from benchforge.suite.environment import Environment
from benchforge.suite.suite import Declared
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked, shown
from benchforge.suite.toml.models import options as options_of
from benchforge.text.readable import conjoined

KINDS: Mapping[str, Kind] = {f"{kind}s": kind for kind in OF_SUITES}
"The tables that declare parts."

LABELLED = (*KINDS, "runtimes", "hosts", "feeds", "scenarios", "tables", "claims")
"The tables that hold tables, each under a label."

_USES = ("throughput", "errors", "rate", "latency", "cpu", "memory", "keepalive", "transfer")
STANDARD: Mapping[str, Mapping[str, JsonValue]] = {
    **{use: {"use": use} for use in (*_USES, "error_rate", "all_throughput", "lateness")},
    "latency": {"use": "latency", "percentiles": [50, 99]},
    "all_throughput": {"use": "throughput", "count": "all"},
}
"The metrics of a suite that declares none."

HOST = "host"
"Key of each part that a trial starts, unless the part has an option of that name."

STAR = "*"
"In place of a label: all parts of a kind that have an option."

# Labels name folders, stand in option paths, and are shown everywhere.
LABEL = re.compile(r"\w[\w-]*")
# These share what is named after them: a trial's folder, or the driver of a case.
_APART = (("servers", "backends"), ("loaders", "clients"))


def tables_of(tables: Tables, kind: str) -> Checked[dict[str, Tables]]:
    """Return the tables below a table, by label."""
    written = tables.get(kind, {})
    if not isinstance(written, dict):
        yield Fault((kind,), "expected tables, each under a label", f"write [{kind}.label]")
        return {}
    labelled: dict[str, Tables] = {}
    for label, table in written.items():
        if label == STAR and kind in KINDS and isinstance(table, dict):
            continue  # what no part has: `left_faults` says so
        if not isinstance(table, dict):
            yield Fault((kind, label), "expected a table", f"write [{kind}.{label}]")
        elif not LABEL.fullmatch(label):
            yield Fault((kind, label), "not a label", "use letters, digits, '_' and '-'")
        else:
            labelled[label] = table
    return labelled


def labelled_tables(tables: Tables) -> Checked[dict[str, dict[str, Tables]]]:
    """Return the labelled tables, by kind and label; without [metrics], the standard ones."""
    labelled: dict[str, dict[str, Tables]] = {}
    for kind in LABELLED:
        labelled[kind] = yield from tables_of(tables, kind)
    if "metrics" not in tables:
        labelled["metrics"] = {label: dict(table) for label, table in STANDARD.items()}
    return labelled


def profile_faults(tables: Tables, top: Sequence[str]) -> Iterator[Fault]:
    """Yield what no profile can set, chosen or not: most of the `top` keys of a suite it can."""
    keys = [key for key in top if key not in {"benchforge", "profiles"}]
    profiles = yield from tables_of(tables, "profiles")
    for label, profile in profiles.items():
        for key in profile.keys() - set(keys):
            hint = Nearest(key, keys, "a profile takes")
            yield Fault(("profiles", label, key), "unknown key", hint)


def declared(
    labelled: Mapping[str, Mapping[str, Tables]], registry: Registry, environment: Environment
) -> Checked[dict[str, dict[str, Declared]]]:
    """Return every part that is sound, by its table and label."""
    for kind, other in _APART:
        for label in labelled[kind].keys() & labelled[other].keys():
            yield Fault((kind, label), f"{other}.{label} has the same label", "rename one")
    parts: dict[str, dict[str, Declared]] = {table: {} for table in KINDS}
    for table, sound_parts in parts.items():
        for label, options in labelled[table].items():
            part = yield from _declared((table, label), options, registry, environment)
            if part is not None:
                sound_parts[label] = part
    return parts


def _declared(
    path: tuple[str, str], written: Tables, registry: Registry, environment: Environment
) -> Checked[Declared | None]:
    table, label = path
    kind = KINDS[table]
    use = written.get("use")
    if not isinstance(use, str):
        names = ", ".join(registry.names(kind)) or "none"
        problem = "'use' is missing" if use is None else "expected the name of a part"
        fault_path = path if use is None else (*path, "use")
        yield Fault(fault_path, problem, f"it names the {kind}; installed: {names}")
        return None
    try:
        cls = registry.part(kind, use)
    except Unusable as error:
        others = [f"a {it}" for it in KINDS.values() if it != kind and use in registry.names(it)]
        also = f"{use!r} is {conjoined(others)}; " if others else ""
        yield Fault((*path, "use"), error.message, f"{also}{error.hint}")
        return None
    options_ = {option: value for option, value in written.items() if option != "use"}
    host = options_.pop(HOST, None) if kind != "metric" and HOST not in options_of(cls) else None
    if not isinstance(host, str | None):
        yield Fault((*path, HOST), f"expected the label of a host, got {shown(host)}")
        host = None
    options = yield from environment.fill(options_, cls, path)
    part = yield from checked(cls, options, path)
    return Declared(label, cls, options, part, host) if part else None


def metrics(parts: Mapping[str, Declared]) -> dict[str, Metric]:
    """Return the metrics among the parts, by label."""
    return {label: part.part for label, part in parts.items() if isinstance(part.part, Metric)}
