"""Suites in all of their forms: without a profile, and with each of their own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchforge.cli.console.named_file import loaded
from benchforge.parts.command import Need
from benchforge.parts.registry import Registry
from benchforge.run.programs.needed import Needed, Users
from benchforge.suite.scenarios.turns import unlike_loads
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import as_table
from benchforge.suite.toml.faults import SuiteErrors, SuiteFault
from benchforge.suite.toml.source import read
from benchforge.text.readable import counted, listed


def load_all(
    path: Path,
    registry: Registry,
    profile: str | None,
    settings: Sequence[tuple[str, str]],
    only: Sequence[str],
) -> tuple[list[Suite], Sequence[SuiteFault]]:
    """Read a suite without a profile and with each of its own; with `profile`, with that alone.

    Return the sound forms, and the faults of the others. A fault in a profile names the profile.
    """
    forms: list[str | None] = [profile]
    if profile is None:
        try:
            profiles = as_table(read(path).tables.get("profiles"))
        except SuiteErrors as error:
            return [], error.faults
        forms += [name for name, table in profiles.items() if isinstance(table, dict)]
    suites: list[Suite] = []
    distinct: dict[tuple[str, str], tuple[SuiteFault, list[str | None]]] = {}
    for name in forms:
        try:
            suites.append(loaded(path, registry, name, settings, only))
        except SuiteErrors as error:
            for fault in error.faults:
                distinct.setdefault((fault.where, fault.message), (fault, []))[1].append(name)
    faults = []
    for fault, among in distinct.values():
        of_all = profile is not None or None in among
        message = f"{fault.message} (with --profile {', '.join(map(str, among))})"
        faults.append(fault if of_all else replace(fault, message=message))
    return suites, faults


def counts(suites: Sequence[Suite], form: Needed) -> str:
    """Return how many scenarios, cases and claims a suite has, and its profiles."""
    scenarios = counted(len(suites[0].scenarios), "scenario")
    profiles = [suite.profile for suite in suites if suite.profile]
    also = "also " if len(suites) > len(profiles) else ""
    with_profiles = f", {also}with --profile {listed(profiles)}" if profiles else ""
    claims = f", {counted(len(suites[0].claims), 'claim')}" if suites[0].claims else ""
    return f"{scenarios}, {counted(form.cases, 'case')}{claims}{with_profiles}"


def names(needs: Iterable[Need]) -> str:
    """Return the needs in words: of programs that come together the first, then the modules."""
    first: dict[str, str] = {}
    for need in sorted(needs, key=lambda need: need.kind == "module"):
        first.setdefault(need.debian or need.name, need.name)
    return f"needs {listed(list(first.values()))}" if first else "needs nothing else"


def users_of(users: Users, path: Path) -> Iterator[str]:
    """Yield which parts of a suite need something, and in which scenarios."""
    for key_path, scenarios in users.items():
        used_by = f" ({', '.join(scenarios)})" if scenarios else ""
        yield f"{key_path} in {path}{used_by}"


def remarks(suites: Sequence[Suite], forms: Sequence[Needed]) -> Iterator[str]:
    """Yield what only a process or the network can check, and unfair comparisons."""
    yield from (f"not looked at: {line}" for line in _unchecked(suites, forms))
    yield from (line for suite in suites for line in unlike_loads(suite))


def _unchecked(suites: Sequence[Suite], forms: Sequence[Needed]) -> Iterator[str]:
    for suite, form in zip(suites, forms, strict=True):
        for label, files in form.runtimes.items():
            modules = ", ".join(form.modules[label])
            inside = f", and whether it has {modules}" if modules else ""
            python = suite.runtimes[label].python
            if files and "/" in python:
                has = f" has {modules}" if modules else " is a Python"
                yield f"runtimes.{label}: whether {files[0]}{has}"
                continue
            if files:
                others = f" or one of {len(files) - 1} more" if len(files) > 1 else ""
                yield f"runtimes.{label}: whether {files[0]}{others} is {python!r}{inside}"
            elif suite.runtimes[label].download:
                yield f"runtimes.{label}: {python!r}, which is to be downloaded"
        for server, refs in form.refs.items():
            yield f"{server}: whether {listed([*refs])} is a commit of its repository"
        for server in form.outside:
            yield f"{server}: whether it runs, since others start it"
