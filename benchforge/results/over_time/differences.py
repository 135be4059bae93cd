"""Differences of two results beside their numbers: machine, load tools, cases."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from benchforge.errors import BenchforgeError
from benchforge.model.files.result import HARD, SOFT, Header, changes
from benchforge.model.values.case_name import CaseName
from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed
from benchforge.results.resume import change_in_words, differing
from benchforge.suite.overrides import layered
from benchforge.suite.toml.source import parsed

_TOOL: Final = "loader-"
# What of a suite is no part of a case.
_BESIDE: Final = (
    *("title", "name", "repeat", "profiles", "metrics", "tables", "claims"),
    *("placement", "benchforge"),
)


def hard(then: Summed, newer: Summed) -> Iterator[str]:
    """Yield each fact of the machine and of load tools that forbids to compare, with both values.

    A fact that one result lacks differs.
    """
    old, new = then.summary, newer.summary
    yield from changes(old.facts, new.facts)
    for name in HARD:
        if (name in old.facts) != (name in new.facts):
            yield _was(name, old.facts, new.facts)
    yield from _differences(_tools(old.versions), _tools(new.versions))
    for result in (then, newer):
        for session in result.summary.sessions:
            yield from (
                f"{result.path} was resumed elsewhere: {text}" for text in session.differences
            )


def soft(then: Summed, newer: Summed) -> Iterator[str]:
    """Yield other differences, which may be the question: programs, and lesser facts."""
    old, new = then.summary, newer.summary
    yield from _differences(*({"benchforge": summary.benchforge} for summary in (old, new)))
    yield from _differences(
        {name: version for name, version in old.versions.items() if not name.startswith(_TOOL)},
        {name: version for name, version in new.versions.items() if not name.startswith(_TOOL)},
    )
    for name in SOFT:
        if old.facts.get(name) != new.facts.get(name):
            yield _was(name, old.facts, new.facts)


def another(then: Summed, newer: Summed, old: CaseName, new: CaseName, registry: Registry) -> str:
    """Return what makes a case another thing than it was; empty where its digest is the same."""
    if old.digest == new.digest:
        return ""
    if then.header is None or newer.header is None:
        return "options, code or data: a summary alone does not say which"
    try:
        tables = _tables(then.header, old, registry), _tables(newer.header, new, registry)
    except BenchforgeError:
        return "options, code or data: the suite of one cannot be read any more"
    first = next(differing(*tables, ()), None)
    if first is None:
        return "the app's code, or data: the options are the same"
    return f"options: {change_in_words(*first)}"


def _tables(header: Header, case: CaseName, registry: Registry) -> dict[str, Any]:
    """Return of a suite what makes a case, as far as its labels tell."""
    settings = tuple(header.settings.items())
    document = layered(parsed("suite", header.suite), header.profile, settings, registry)
    tables = {name: table for name, table in document.tables.items() if name not in _BESIDE}
    parts = {case.server, case.driver, *_upstreams(tables, case.server)}
    labels = {"scenarios": {case.scenario}, "servers": parts, "loaders": parts, "clients": parts}
    return {
        name: {label: inner for label, inner in table.items() if label in labels[name]}
        if name in labels and isinstance(table, dict)
        else table
        for name, table in tables.items()
    }


def _upstreams(tables: Mapping[str, Any], label: str) -> Iterator[str]:
    """Yield the servers that stand behind one, as far as they are named by their labels."""
    servers = tables.get("servers")
    if not isinstance(servers, dict):
        return
    server = servers.get(label)
    behind = server.get("upstream") if isinstance(server, dict) else None
    for upstream in behind if isinstance(behind, list) else [behind]:
        if isinstance(upstream, str) and upstream != label:
            yield upstream
            yield from _upstreams({"servers": {**servers, label: None}}, upstream)


def _tools(versions: Mapping[str, str]) -> dict[str, str]:
    return {name: version for name, version in versions.items() if name.startswith(_TOOL)}


def _differences(then: Mapping[str, Any], newer: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is another among the names that both have: one may have measured more."""
    for name in then:
        if name in newer and then[name] != newer[name]:
            yield _was(name, then, newer)


def _was(name: str, then: Mapping[str, Any], newer: Mapping[str, Any]) -> str:
    was, is_ = (repr(table[name]) if name in table else "not told" for table in (then, newer))
    return f"{name} was {was}, is {is_}"
