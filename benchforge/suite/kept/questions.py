"""What the suite in a result asks of its cases: claims and tables, metrics and titles."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from benchforge.model.claim import Claim
from benchforge.model.pivot import Pivot
from benchforge.model.trial import CaseName
from benchforge.parts.part import Metric
from benchforge.suite.asking import all_meant
from benchforge.suite.claims import sound_claims
from benchforge.suite.complaints import Complaints
from benchforge.suite.declared import tables_of
from benchforge.suite.document import Document
from benchforge.suite.pivots import pivots
from benchforge.suite.sides import of_cases, resolved
from benchforge.suite.suite import Scenario

_MATRIX = ("title", "servers", "loaders", "clients", "metrics", "vary", "include", "exclude")


class Asks(NamedTuple):
    """What a header holds of it."""

    titles: Mapping[str, str]
    "Of the scenarios that have one."
    takes: Mapping[str, tuple[str, ...]]
    "Labels of the metrics of each scenario that names its own."
    tables: Mapping[str, Pivot]
    claims: tuple[Claim, ...]


def asks(document: Document, metrics: Mapping[str, Metric], cases: Sequence[CaseName]) -> Asks:
    """Return what a suite asks of these cases, by its text and nothing else of it.

    Raises SuiteErrors where the text asks what cannot be.
    """
    complaints = Complaints(document)
    there: dict[str, list[CaseName]] = {}
    for case in cases:
        there.setdefault(case.scenario, []).append(case)
    declared = tables_of(document.tables, "scenarios", complaints)
    every: dict[str, Scenario] = {}
    for label, table in declared.items():
        told = {key: table[key] for key in _MATRIX if key in table}
        scenario = complaints.parse(Scenario, told, ("scenarios", label))
        if scenario is not None:
            every[label] = scenario
    names = {"metrics": tuple(metrics), "scenarios": tuple(declared)}
    drawn = tables_of(document.tables, "tables", complaints)
    tables = pivots(drawn, names["metrics"], names["scenarios"], every, complaints)
    written = tables_of(document.tables, "claims", complaints)
    sound = sound_claims(written, metrics, names, every, complaints)
    here = {
        label: one
        for label, one in sound.items()
        if all(side.scenario in there for side in all_meant(one.written, one.at, {}))
    }
    claims = resolved(here, lambda label: there[label], complaints)
    complaints.settle(())
    return asked_of(every, tables, claims, cases)


def asked_of(
    scenarios: Mapping[str, Scenario],
    tables: Mapping[str, Pivot],
    claims: Iterable[Claim],
    cases: Sequence[CaseName],
) -> Asks:
    """Return of a suite's scenarios, tables and claims what is about these cases."""
    there = dict.fromkeys(case.scenario for case in cases)
    measured = {label: scenarios[label] for label in there if label in scenarios}
    return Asks(
        titles={label: one.title for label, one in measured.items() if one.title},
        takes={label: one.metrics for label, one in measured.items() if one.metrics is not None},
        tables={label: one for label, one in tables.items() if any(map(one.has, cases))},
        claims=of_cases(claims, cases),
    )
