"""The tables [runtimes.x] of a suite, and whether each that a part names is there."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from benchforge.model.runtime import OWN, Runtime
from benchforge.parts.part import RunsPython
from benchforge.suite.axis import axis
from benchforge.suite.complaints import Complaints
from benchforge.suite.document import Tables
from benchforge.suite.environment import Environment
from benchforge.suite.faults import nearest
from benchforge.suite.positions import Path
from benchforge.suite.suite import Declared, Scenario

Parts = Mapping[str, Mapping[str, Declared]]


def runtimes(
    labelled: Mapping[str, Tables], environment: Environment, complaints: Complaints
) -> dict[str, Runtime]:
    """Return every runtime that is sound, by label; complain of the others."""
    found: dict[str, Runtime] = {}
    for label, table in labelled.items():
        path = ("runtimes", label)
        if label == OWN:
            complaints.at(path, "benchforge's own interpreter is called so", "rename it")
        python = table.get("python")
        if isinstance(python, int | float) and not isinstance(python, bool):
            hint = "write it in quotes: as a number, 3.10 would be 3.1"
            complaints.at((*path, "python"), f"expected text, got {python}", hint)
        options = environment.fill(table, Runtime, path)
        if (runtime := complaints.parse(Runtime, options, path)) is not None:
            found[label] = runtime
    return found


def check_named(parts: Parts, labels: Sequence[str], complaints: Complaints) -> None:
    """Complain of each part that names a runtime which the suite does not declare."""
    for table, declared in parts.items():
        for label, one in declared.items():
            if isinstance(one.part, RunsPython):
                _check((table, label, "runtime"), one.part.runtime, labels, complaints)


def check_varied(
    label: str, scenario: Scenario, parts: Parts, labels: Sequence[str], complaints: Complaints
) -> None:
    """Complain of each runtime among a scenario's values which the suite does not declare."""
    top = ("scenarios", label)
    for path, values in scenario.vary.items():
        if _is_runtime(path, scenario, parts):
            for number, value in enumerate(values):
                _check((*top, "vary", path, number), value, labels, complaints)
    for number, point in enumerate(scenario.include):
        for path, value in point.items():
            if _is_runtime(path, scenario, parts):
                _check((*top, "include", number, path), value, labels, complaints)


def _is_runtime(path: str, scenario: Scenario, parts: Parts) -> bool:
    found = axis(path)
    if found is None or found.option != ("runtime",):
        return False
    here = (parts[found.place].get(label) for label in getattr(scenario, found.place))
    return any(
        one is not None and issubclass(one.cls, RunsPython) and found.reaches(found.place, one)
        for one in here
    )


def _check(at: Path, named: JsonValue, labels: Sequence[str], complaints: Complaints) -> None:
    if isinstance(named, str) and named not in labels:
        hint = nearest(named, labels, "declared") if labels else f"declare it: [runtimes.{named}]"
        complaints.at(at, f"no runtime {named!r} is declared", hint)
