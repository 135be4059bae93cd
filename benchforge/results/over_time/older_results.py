"""Older results for a comparison with a new one: differences beside the numbers, and reasons."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

from benchforge.errors import BenchforgeError, Unusable
from benchforge.model.files.result import HARD, SOFT, Header, changes
from benchforge.model.summary.summary import Summary
from benchforge.model.values.case_name import CaseName
from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed, results_in, summed
from benchforge.results.over_time.levels import by_key, lines, reference_of
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
    yield from _differences(_versions(old, tools=True), _versions(new, tools=True))
    for result in (then, newer):
        texts = [text for session in result.summary.sessions for text in session.differences]
        yield from (f"{result.path} was resumed elsewhere: {text}" for text in texts)


def soft(then: Summed, newer: Summed) -> Iterator[str]:
    """Yield other differences, which may be the question: programs, and lesser facts."""
    old, new = then.summary, newer.summary
    yield from _differences(*({"benchforge": summary.benchforge} for summary in (old, new)))
    yield from _differences(_versions(old, tools=False), _versions(new, tools=False))
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
    servers = tables.get("servers")
    if not isinstance(servers, dict):
        return
    server = servers.get(label)
    behind = server.get("upstream") if isinstance(server, dict) else None
    for upstream in behind if isinstance(behind, list) else [behind]:
        if isinstance(upstream, str) and upstream != label:
            yield upstream
            yield from _upstreams({"servers": {**servers, label: None}}, upstream)


def _versions(summary: Summary, *, tools: bool) -> dict[str, str]:
    items = summary.versions.items()
    return {name: version for name, version in items if name.startswith(_TOOL) is tools}


def _differences(then: Mapping[str, Any], newer: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is another among the names that both have: one may have measured more."""
    for name in then:
        if name in newer and then[name] != newer[name]:
            yield _was(name, then, newer)


def _was(name: str, then: Mapping[str, Any], newer: Mapping[str, Any]) -> str:
    was, is_ = (repr(table[name]) if name in table else "not told" for table in (then, newer))
    return f"{name} was {was}, is {is_}"


_ELSEWHERE = "measure both on one machine, or add --anyway, which marks the output"


@dataclass(frozen=True)
class Older:
    """What a new result is compared with."""

    results: tuple[Summed, ...]
    "Results in order of time."
    left_out: tuple[str, ...]
    "Results in the named folders that are left out, each with its reason."
    doubts: tuple[str, ...]
    "Differences that forbid the comparison, if it is made anyway."


def named_results(
    named: Sequence[Path],
    registry: Registry,
    left_out: list[str],
    check: Callable[[Summed], None] = lambda _: None,
    new: Path | None = None,
) -> Iterator[Summed]:
    """Yield each result once that `check` accepts; `left_out` gets the others, with the reason.

    A result that is named itself raises its BenchforgeError; `new` is passed over in folders.
    """
    results: list[Summed] = []
    for path in named:
        folders = list(results_in(path)) or [path]
        for folder in folders:
            if folders != [path] and new is not None and folder.resolve() == new.resolve():
                continue
            try:
                check(result := summed(folder, registry))
            except BenchforgeError as error:
                if folders == [path]:
                    raise
                left_out.append(error.message)
                continue
            if any(result.same(other) for other in results):
                left_out.append(f"{folder}: is there already")
                continue
            results.append(result)
            yield result


def check_labels(results: Sequence[Summed], reference: str | None, metrics: Sequence[str]) -> None:
    """Raise Unusable for a server or a metric that no result has."""
    cases = [case for result in results for case in result.summary.cases]
    servers = {case.case.server for case in cases}
    labels = {line.metric for case in cases for line in case.metrics}
    options = [("reference", "server", reference, servers)] if reference is not None else []
    options += [("metric", "metric", metric, labels) for metric in metrics]
    for option, noun, label, available in options:
        if label not in available:
            path = results[0].path if len(results) == 1 else "no result"
            has = "has no such" if len(results) == 1 else "has such a"
            hint = f"available {noun}s: {', '.join(sorted(available))}"
            raise Unusable(f"--{option} {label}: {path} {has} {noun}", hint)


def older(
    new: Summed,
    named: Sequence[Path],
    registry: Registry,
    reference: str | None,
    *,
    anyway: bool,
    earlier: bool,
) -> Older:
    """Return the results that are named, or lie in a folder that is, as far as they can be taken.

    A named one that cannot be compared raises Unusable or InvalidFile, with `earlier` a newer one.
    """
    left_out: list[str] = []
    doubts: dict[str, None] = {}

    def check(candidate: Summed) -> None:
        _comparable(candidate, new, reference, earlier=earlier)
        against = list(_against(candidate, new, reference))
        if against and not anyway:
            raise Unusable(f"{candidate.path}: {'; '.join(against)}", _ELSEWHERE)
        doubts.update(dict.fromkeys(against))

    taken = list(named_results(named, registry, left_out, check, new.path))
    if not taken:
        first = f": {left_out[0]}" if left_out else ""
        raise Unusable(f"no older result to compare with{first}", _ELSEWHERE)
    taken.sort(key=lambda result: result.summary.created)
    return Older(tuple(taken), tuple(left_out), tuple(doubts))


def _comparable(old: Summed, new: Summed, reference: str | None, *, earlier: bool) -> None:
    """Raise Unusable where no word can make two results comparable."""
    if old.same(new):
        raise Unusable(f"{old.path}: is the same result as {new.path}", "name another one")
    if earlier and old.summary.created > new.summary.created:
        message = f"{old.path}: was measured after {new.path}"
        raise Unusable(message, "name the new result first, then --against and the older ones")
    new_cases, theirs = by_key(new.summary), by_key(old.summary)
    shared_keys = [key for key in new_cases if key in theirs]
    if not shared_keys:
        message = f"{old.path} and {new.path} have no case in common"
        raise Unusable(message, "cases match by scenario, server, driver and varied options")
    if reference is not None and all(value.case.server != reference for value in theirs.values()):
        servers = ", ".join(sorted({value.case.server for value in theirs.values()}))
        message = f"{old.path}: no server {reference!r} in it"
        raise Unusable(message, f"available servers: {servers}")
    pairs = [(lines(theirs[key]), lines(new_cases[key])) for key in shared_keys]
    if not any(then.keys() & newer.keys() for then, newer in pairs):
        for was, is_ in chain.from_iterable(product(*pair) for pair in pairs):
            if (was.metric, was.of) == (is_.metric, is_.of):
                message = f"{old.path}: {was.title} is in {was.unit or 1}, in {new.path} in"
                raise Unusable(f"{message} {is_.unit or 1}", "these are different metrics")
        raise Unusable(f"{old.path} and {new.path} have no metric in common")


def _against(old: Summed, new: Summed, reference: str | None) -> Iterator[str]:
    """Yield what forbids to compare two results, each with both values."""
    if old.summary.name != new.summary.name:
        yield f"suite was {old.summary.name!r}, is {new.summary.name!r}"
    for result in (old, new):
        if result.summary.smoke:
            yield f"{result.path} is a smoke: its numbers mean nothing"
    yield from hard(old, new)
    if reference is None:
        return
    theirs = by_key(old.summary)
    for case in by_key(new.summary).values():
        new_reference = reference_of(case.case, reference, by_key(new.summary))
        then = reference_of(case.case, reference, theirs)
        if new_reference and then and new_reference.case.digest != then.case.digest:
            yield f"the reference {reference} has changed: options, code or data"
            return
