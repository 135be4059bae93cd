"""The key `placement`: a word, or a table of CPUs by role."""

from typing import Literal

from benchforge.model.suite.placement import Placement
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault
from benchforge.suite.toml.models import checked
from benchforge.suite.toml.words import shown

PlacementChoice = Placement | Literal["auto", "off"]


def placement(tables: Tables) -> Checked[PlacementChoice]:
    """Return where a suite puts its roles. Whether those CPUs are here is asked when it is run."""
    match tables.get("placement", "off"):
        case ("auto" | "off") as word:
            return word
        case dict() as table:
            by_role = {key: value for key, value in table.items() if key != "hosts"}
            placed = yield from checked(Placement, by_role, ("placement",))
            return placed if placed and by_role else "off"
        case other:
            message = f"expected 'auto', 'off' or a table of CPUs by role, got {shown(other)}"
            yield Fault(("placement",), message, '[placement] accepts server = "0-3"')
            return "off"
