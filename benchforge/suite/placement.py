"""The key `placement`: a word, or a table of CPUs by role."""

from typing import Literal

from benchforge.model.placement import Placement
from benchforge.suite.complaints import Complaints
from benchforge.suite.document import Tables
from benchforge.suite.words import shown

Asked = Placement | Literal["auto", "off"]


def placement(tables: Tables, complaints: Complaints) -> Asked:
    """Return where a suite puts its roles. Whether those CPUs are here is asked when it is run."""
    match tables.get("placement", "off"):
        case ("auto" | "off") as word:
            return word
        case dict() as table:
            return complaints.parse(Placement, table, ("placement",)) or "off"
        case other:
            message = f"expected 'auto', 'off' or a table of CPUs by role, got {shown(other)}"
            complaints.at(("placement",), message, '[placement] takes server = "0-3"')
            return "off"
