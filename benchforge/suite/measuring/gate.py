"""The table [gate]: waivers of `benchforge gate`."""

from collections.abc import Mapping, Sequence

from benchforge.model.suite.gate import Gate
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import table_of

_TABLE = "gate"


def gate_of(tables: Tables, labels: Mapping[str, Sequence[str]]) -> Checked[Gate]:
    """Return the waivers of a suite; none where it has no table."""
    gate = yield from table_of(Gate, tables, _TABLE)
    for number, waiver in enumerate(gate.allow):
        for key, label in (("scenarios", waiver.scenario), ("servers", waiver.server)):
            if label is not None and label not in labels[key]:
                hint = Nearest(label, labels[key], "declared")
                place = (_TABLE, "allow", number, key.removesuffix("s"))
                yield Fault(place, f"no {key.removesuffix('s')} {label!r} is declared", hint)
    return gate
