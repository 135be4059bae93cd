"""The part of a result's suite that says how to read it: drivers, metrics, claims, answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from benchforge.errors import Unusable
from benchforge.model.files.result import Header
from benchforge.model.suite.claim import VerdictRules
from benchforge.model.suite.search import RateSearch
from benchforge.model.trial.answers.answer import Expect
from benchforge.model.values.case_name import CaseName
from benchforge.parts.part import Driver, Metric
from benchforge.parts.registry import Registry
from benchforge.suite.declared import KINDS, STANDARD, declared, metrics, tables_of
from benchforge.suite.environment import Environment
from benchforge.suite.matrix import part_at
from benchforge.suite.measuring.tables import repeated
from benchforge.suite.overrides import layered
from benchforge.suite.scenarios.search import find_of
from benchforge.suite.scenarios.turns import ALONE
from benchforge.suite.suite import Declared, Repeat, Scenario
from benchforge.suite.toml.document import Document, Tables, as_table
from benchforge.suite.toml.faults import Checked
from benchforge.suite.toml.models import table_of, typed
from benchforge.suite.toml.source import parsed, sound
from benchforge.text.safe import HIDDEN

DRIVERS = ("loaders", "clients")
_SEARCHING = ("servers", "loaders", "find", "kinds")


@dataclass(frozen=True)
class KeptSuite:
    """The parts of a suite that say how its results are read."""

    metrics: Mapping[str, Metric]
    repeat: Repeat
    "Number of blocks, and what ends the run."
    verdict_rules: VerdictRules
    "Rules that adjust the verdicts for the number of questions."
    _drivers: Mapping[str, tuple[str, Declared]]
    "Table and part by label: a loader and a client cannot share one."
    document: Document

    def driver(self, case: CaseName) -> Driver:
        """Return the driver of a case, as it was there. Raises Unusable where there is none."""
        if case.driver not in self._drivers:
            raise Unusable(f"the suite declares no driver {case.driver!r}")
        table, declaration = self._drivers[case.driver]
        try:
            part = part_at(declaration, table, case.vary)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]["msg"]
            raise Unusable(f"{table}.{case.driver} of {case.title} is invalid: {first}") from None
        assert isinstance(part, Driver)  # noqa: S101 - its table says so
        return part

    def find(self, label: str) -> RateSearch | None:
        """Return what a scenario looks for, or None. Raises ValidationError and NoBound."""
        table = self._scenario(label)
        if table is None or "find" not in table:
            return None
        scenario = typed(Scenario, {key: table[key] for key in _SEARCHING if key in table})
        loaders = {part.label: part for table, part in self._drivers.values() if table == "loaders"}
        return find_of(scenario, loaders, self.metrics)

    def expect(self, case: CaseName) -> Expect | None:
        """Return the right answer of a case; None where it holds a secret."""
        scenario = self._scenario(case.scenario)
        table = None if scenario is None else scenario.get("expect", {})
        if scenario is not None:
            table = as_table(scenario.get("expects")).get(case.server, table)
        written = json.dumps(table)
        if not isinstance(table, dict) or HIDDEN in written or '"env"' in written:
            return None
        try:
            return typed(Expect, table)
        except ValidationError:
            return None

    def _scenario(self, label: str) -> Tables | None:
        tables = as_table(self.document.tables.get("scenarios"))
        table = tables.get(label, tables.get(label.removesuffix(ALONE)))  # as with_bridges has it
        return table if isinstance(table, dict) else None


def kept_suite(header: Header, name: str, registry: Registry) -> KeptSuite:
    """Return the suite of a header; errors call its text `name`.

    Raises SuiteErrors where the text is no suite, or names a part that is not installed.
    """
    settings = tuple(header.settings.items())
    document = layered(parsed(name, header.suite), header.profile, settings, registry)
    return sound(_kept(document, header, registry), document)


def _kept(document: Document, header: Header, registry: Registry) -> Checked[KeptSuite]:
    labels = {case.driver for case in header.cases}
    labelled: dict[str, Mapping[str, Tables]] = {kind: {} for kind in KINDS}
    for table_name in DRIVERS:
        of_place = yield from tables_of(document.tables, table_name)
        labelled[table_name] = {key: table for key, table in of_place.items() if key in labels}
    labelled["metrics"] = yield from tables_of(document.tables, "metrics")
    if "metrics" not in document.tables:
        labelled["metrics"] = {label: dict(table) for label, table in STANDARD.items()}
    # Secrets do not say how an output is read, and whoever reads a result has none of them.
    parts = yield from declared(labelled, registry, Environment(lambda _: HIDDEN))
    repeat = yield from repeated(document, header.profile)
    rules = yield from table_of(VerdictRules, document.tables, "verdicts")
    drivers = {label: (table, value) for table in DRIVERS for label, value in parts[table].items()}
    return KeptSuite(metrics(parts["metrics"]), repeat, rules, drivers, document)
