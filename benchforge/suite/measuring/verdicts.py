"""The table [verdicts]: how verdicts allow for the number of questions."""

from benchforge.model.suite.verdict_rules import VerdictRules
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault
from benchforge.suite.toml.models import checked

_TABLE = "verdicts"


def verdict_rules(tables: Tables) -> Checked[VerdictRules]:
    """Return the rules of a suite; the usual ones where it has none."""
    table = tables.get(_TABLE, {})
    if isinstance(table, dict):
        return (yield from checked(VerdictRules, table, (_TABLE,))) or VerdictRules()
    yield Fault((_TABLE,), "expected a table", "write [verdicts]")
    return VerdictRules()
