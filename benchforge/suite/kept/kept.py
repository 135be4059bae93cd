"""What a result was read with: its drivers, metrics, claims and answers, from the suite it holds.

Nothing else of the suite is looked at. So it does not matter whether servers and apps, folders and
secrets of then are still there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from benchforge.errors import Unusable
from benchforge.model.amount import Until
from benchforge.model.answer import Expect
from benchforge.model.find import Find
from benchforge.model.result import Header
from benchforge.model.trial import CaseName
from benchforge.parts.part import Driver, Metric
from benchforge.registry import Registry
from benchforge.suite.asks import Asks, asks
from benchforge.suite.axis import part_at
from benchforge.suite.complaints import Complaints
from benchforge.suite.declared import KINDS, STANDARD, declared, metrics, tables_of
from benchforge.suite.document import Document, Tables
from benchforge.suite.environment import Environment
from benchforge.suite.find import find_of
from benchforge.suite.layers import layered
from benchforge.suite.redact import HIDDEN
from benchforge.suite.repeat import repeated
from benchforge.suite.source import parsed
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.typed import typed

DRIVERS = ("loaders", "clients")
_SEARCHING = ("servers", "loaders", "find")


@dataclass(frozen=True)
class KeptSuite:
    """The parts of a suite that say how its results are read."""

    metrics: Mapping[str, Metric]
    "By label."
    until: Until | None
    "What ends a run; None where it gives a number of blocks."
    _drivers: Mapping[str, tuple[str, Declared]]
    "Table and part by label: a loader and a client cannot share one."
    _document: Document

    @property
    def smoke(self) -> bool:
        """Whether the text calls it one."""
        return self._document.tables.get("smoke") is True

    @property
    def title(self) -> str:
        """Of the suite."""
        return str(self._document.tables.get("title", ""))

    def driver(self, case: CaseName) -> Driver:
        """Return the driver of a case, as it was there. Raises Unusable where there is none."""
        if case.driver not in self._drivers:
            raise Unusable(f"the suite declares no driver {case.driver!r}")
        place, one = self._drivers[case.driver]
        try:
            part = part_at(one, place, case.vary)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]["msg"]
            raise Unusable(f"{place}.{case.driver} cannot be as in {case.title}: {first}") from None
        assert isinstance(part, Driver)  # noqa: S101 - its table says so
        return part

    def find(self, label: str) -> Find | None:
        """Return what a scenario looks for, as the suite's text says; None where it says nothing.

        Raises ValidationError and WrongObjective where it says what cannot be.
        """
        scenarios = self._document.tables.get("scenarios")
        table = scenarios.get(label) if isinstance(scenarios, dict) else None
        if not isinstance(table, dict) or "find" not in table:
            return None
        scenario = typed(Scenario, {key: table[key] for key in _SEARCHING if key in table})
        loaders = {one.label: one for place, one in self._drivers.values() if place == "loaders"}
        return find_of(scenario, loaders, self.metrics)

    def asks(self, cases: Sequence[CaseName]) -> Asks:
        """Return what the suite asks of these cases. Raises SuiteErrors where that cannot be."""
        return asks(self._document, self.metrics, cases)

    def expect(self, case: CaseName) -> Expect | None:
        """Return what a right answer of a case looks like; None where a secret is part of it."""
        scenarios = self._document.tables.get("scenarios")
        scenario = scenarios.get(case.scenario) if isinstance(scenarios, dict) else None
        table = scenario.get("expect", {}) if isinstance(scenario, dict) else None
        if (
            not isinstance(table, dict)
            or HIDDEN in json.dumps(table)
            or '"env"' in json.dumps(table)
        ):
            return None
        try:
            return typed(Expect, table)
        except ValidationError:
            return None


def kept_suite(header: Header, shown: str, registry: Registry) -> KeptSuite:
    """Return the suite of a header; errors call its text as it is `shown`.

    Raises SuiteErrors where the text is no suite any more, or names a part that is not installed.
    """
    document = layered(
        parsed(shown, header.suite), header.profile, tuple(header.settings.items()), registry
    )
    complaints = Complaints(document)
    labels = {case.driver for case in header.cases}
    labelled: dict[str, Mapping[str, Tables]] = {kind: {} for kind in KINDS}
    for place in DRIVERS:
        found = tables_of(document.tables, place, complaints)
        labelled[place] = {label: table for label, table in found.items() if label in labels}
    labelled["metrics"] = tables_of(document.tables, "metrics", complaints)
    if "metrics" not in document.tables:
        labelled["metrics"] = {label: dict(table) for label, table in STANDARD.items()}
    # Secrets do not say how an output is read, and whoever reads a result has none of them.
    environment = Environment(complaints, lambda _: HIDDEN)
    parts = declared(labelled, registry, environment, complaints)
    until = repeated(document, header.profile, complaints).amount
    complaints.settle(())
    drivers = {label: (place, one) for place in DRIVERS for label, one in parts[place].items()}
    return KeptSuite(metrics(parts["metrics"]), until, drivers, document)
