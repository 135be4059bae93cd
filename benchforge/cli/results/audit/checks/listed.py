"""All checks, by the code that their findings have."""

from collections.abc import Collection, Mapping
from typing import Final

from benchforge.cli.results.audit.checks import counts, failures, load, runs, slips, tables, times
from benchforge.cli.results.audit.finding import AuditCheck

CHECKS: Final = [
    item
    for module in (load, times, counts, failures, runs, tables, slips)
    for item in vars(module).values()
    if isinstance(item, AuditCheck)
]
EXPLAINS: Mapping[str, Collection[str]] = {"AL6": {"AL2"}, "AX3": {"AL1", "AL2", "AL6"}}
"A finding of the first code explains those of the others: idle connections by a wrong duration."
