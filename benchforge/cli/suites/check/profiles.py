"""A suite in all of its forms: without a profile, and with each of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import as_table
from benchforge.suite.toml.faults import SuiteErrors, SuiteFault
from benchforge.suite.toml.source import read


@dataclass(frozen=True)
class Loaded:
    """The forms of a suite that are sound, and what is wrong with the others."""

    suites: tuple[Suite, ...]
    faults: tuple[SuiteFault, ...]
    "Faults without repetition. A fault in a profile names the profile."


def load_all(
    path: Path,
    registry: Registry,
    profile: str | None,
    settings: Sequence[tuple[str, str]],
    only: Sequence[str],
) -> Loaded:
    """Read a suite without a profile and with each of its own; with `profile`, with that alone."""
    try:
        forms = [profile] if profile is not None else [None, *_profiles(path)]
    except SuiteErrors as error:
        return Loaded((), error.faults)
    suites: list[Suite] = []
    distinct: dict[tuple[str, str], tuple[SuiteFault, list[str | None]]] = {}
    for name in forms:
        try:
            suites.append(load(path, registry, profile=name, settings=settings, only=only))
        except SuiteErrors as error:
            for fault in error.faults:
                distinct.setdefault((fault.where, fault.message), (fault, []))[1].append(name)
    faults = [
        fault if None in among or profile is not None else _of_profiles(fault, among)
        for fault, among in distinct.values()
    ]
    return Loaded(tuple(suites), tuple(faults))


def _profiles(path: Path) -> list[str]:
    profiles = as_table(read(path).tables.get("profiles"))
    return [name for name, table in profiles.items() if isinstance(table, dict)]


def _of_profiles(fault: SuiteFault, among: Sequence[str | None]) -> SuiteFault:
    names = ", ".join(str(name) for name in among)
    return replace(fault, message=f"{fault.message} (with --profile {names})")
