"""Claims, tables, metrics and titles of the suite in a result, for its cases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchforge.model.files.result import MetricUse
from benchforge.model.suite.claim import Claim
from benchforge.model.suite.pivot import Pivot
from benchforge.model.values.case_name import CaseName
from benchforge.parts.part import Metric
from benchforge.suite.claims.pivots import pivots
from benchforge.suite.claims.read import sound_claims
from benchforge.suite.claims.sides import of_cases, resolved
from benchforge.suite.claims.where import all_meant, outside_search, with_parts
from benchforge.suite.declared import tables_of
from benchforge.suite.scenarios.turns import with_bridges
from benchforge.suite.suite import Scenario
from benchforge.suite.toml.document import Document
from benchforge.suite.toml.faults import Checked
from benchforge.suite.toml.models import checked
from benchforge.suite.toml.source import sound

_KEYS = ("title", "servers", "loaders", "clients", "metrics", "vary", "include", "exclude", "kinds")


class Asks(NamedTuple):
    """What a header holds of it."""

    titles: Mapping[str, str]
    "Titles of the scenarios that have one, by label."
    clients: tuple[str, ...]
    "Labels of the scenarios that compare clients."
    takes: Mapping[str, tuple[str, ...]]
    "Labels of the metrics of each scenario that names its own."
    tables: Mapping[str, Pivot]
    claims: tuple[Claim, ...]


def uses(metrics: Mapping[str, Metric]) -> Iterator[MetricUse]:
    """Yield the metrics of a suite as a header has them."""
    for label, metric in metrics.items():
        yield MetricUse(
            label=label,
            use=metric.name,
            options=metric.model_dump(mode="json", by_alias=True),
            unit=metric.unit,
            better=metric.better,
        )


def asks(document: Document, metrics: Mapping[str, Metric], cases: Sequence[CaseName]) -> Asks:
    """Return what a suite's text asks of these cases. Raises SuiteErrors if that is impossible."""
    return sound(_asks(document, metrics, cases), document)


def _asks(
    document: Document, metrics: Mapping[str, Metric], cases: Sequence[CaseName]
) -> Checked[Asks]:
    measured: dict[str, list[CaseName]] = {}
    for case in cases:
        measured.setdefault(case.scenario, []).append(case)
    written_scenarios = yield from tables_of(document.tables, "scenarios")
    declared = with_bridges(written_scenarios, measured)
    loaders = yield from tables_of(document.tables, "loaders")
    stages = {
        k: len(n) for k, value in loaders.items() if isinstance(n := value.get("stages"), list)
    }
    scenarios: dict[str, Scenario] = {}
    for label, table in declared.items():
        matrix = {key: table[key] for key in _KEYS if key in table}
        scenario = yield from checked(Scenario, matrix, ("scenarios", label))
        if scenario is not None:
            scenarios[label] = scenario.with_stages(stages)
    names = {"metrics": tuple(metrics), "scenarios": tuple(declared)}
    drawn = yield from tables_of(document.tables, "tables")
    drawn = outside_search(drawn, document)
    tables = yield from pivots(drawn, names["metrics"], names["scenarios"], scenarios)
    written = yield from tables_of(document.tables, "claims")
    claims = yield from sound_claims(outside_search(written, document), metrics, names, scenarios)
    answerable = {
        label: claim
        for label, claim in claims.items()
        if all(side.scenario in measured for side in all_meant(claim.written, claim.at))
    }
    with_cases = yield from resolved(answerable, lambda name: with_parts(measured[name], scenarios))
    return asked_of(scenarios, tables, with_cases, cases)


def asked_of(
    scenarios: Mapping[str, Scenario],
    tables: Mapping[str, Pivot],
    claims: Iterable[Claim],
    cases: Sequence[CaseName],
) -> Asks:
    """Return of a suite's scenarios, tables and claims what is about these cases."""
    labels = dict.fromkeys(case.scenario for case in cases)
    names = [*with_parts(cases, scenarios)]
    measured = {label: scenarios[label] for label in labels if label in scenarios}
    return Asks(
        titles={label: scenario.title for label, scenario in measured.items() if scenario.title},
        clients=tuple(label for label, scenario in measured.items() if scenario.clients),
        takes={
            key: metrics for key, row in measured.items() if (metrics := row.metrics) is not None
        },
        tables={label: table for label, table in tables.items() if any(map(table.has, names))},
        claims=of_cases(claims, names),
    )
