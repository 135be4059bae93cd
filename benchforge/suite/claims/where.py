"""The tables [claims.x], which cases they mean, axes of the matrix, and what `where` selects."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field, JsonValue, PositiveInt

from benchforge.model.suite.claim import Claim
from benchforge.model.suite.pivot import AXIS_NAMES
from benchforge.model.suite.until import LONGEST_FREEZE_S, longest_freeze_s
from benchforge.model.values.case_name import KIND, STAGE, CaseName
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.units import Share
from benchforge.suite.scenarios.turns import KEY, all_turns
from benchforge.suite.suite import Scenario, Suite
from benchforge.suite.toml.document import Document, Tables, as_table
from benchforge.suite.toml.faults import Fault, Nearest
from benchforge.suite.toml.models import shown
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import amount

Axes = Mapping[str, Sequence[JsonValue]]
"Each axis with the values that it takes."

_DRIVER = "load tools and clients are one axis: write 'driver'"
_OFF = 'or set interleave = "off" in the scenario'


def axes(scenarios: Mapping[str, Scenario]) -> Axes:
    """Return the axes of some scenarios, each with its values."""
    by_axis: dict[str, list[JsonValue]] = {axis: [] for axis in AXIS_NAMES}
    for label, scenario in scenarios.items():
        by_axis["scenario"] += [label]
        by_axis["server"] += scenario.servers
        by_axis["driver"] += (*scenario.loaders, *scenario.clients)
        if scenario.kinds:
            by_axis[KIND] = [*by_axis.get(KIND, []), *scenario.kind_labels]
        if most := max(scenario.stage_counts.values(), default=0):
            by_axis[STAGE] = [*by_axis.get(STAGE, []), *range(1, most + 1)]
        for path in scenario.vary:
            by_axis.setdefault(path, [])  # also of what varies over nothing
        for _, path, value in scenario.varied_values():
            by_axis.setdefault(path, []).append(value)
    return {
        key: list({json.dumps(v): v for v in values}.values()) for key, values in by_axis.items()
    }


def with_parts(names: Iterable[CaseName], scenarios: Mapping[str, Scenario]) -> Iterator[CaseName]:
    """Yield each case, and then each kind of its mix and each stage of its load."""
    for name in names:
        yield name
        if (scenario := scenarios.get(name.scenario)) is not None:
            yield from map(name.of_kind, scenario.kind_labels)
            yield from map(name.of_stage, range(1, scenario.stage_counts.get(name.driver, 0) + 1))


def outside_search(tables: Mapping[str, Tables], document: Document) -> dict[str, Tables]:
    """Return claims or tables without those about a scenario that only a profile makes a search."""
    searches = {
        label
        for label in as_table(document.tables.get("scenarios"))
        if document.of_profile(("scenarios", label, "find"))
    }

    def named(table: Tables) -> Iterator[JsonValue]:
        several = table.get("scenarios")
        yield from several if isinstance(several, list) else ()
        for inner in (table, as_table(table.get("a")), as_table(table.get("b"))):
            yield inner.get("scenario")

    def searched(table: Tables) -> bool:
        return any(isinstance(label, str) and label in searches for label in named(table))

    return {label: table for label, table in tables.items() if not searched(table)}


def misplaced(where: Mapping[str, JsonValue], known_axes: Axes) -> Iterator[Fault]:
    """Yield the faults of a `where`, each axis with a value or several; paths start there."""
    for axis, value in where.items():
        if isinstance(value, dict):
            hint = 'quote the whole path: where = { "servers.*.workers" = 4 }'
            yield Fault((axis,), "expected a value, got a table", hint)
        elif axis not in known_axes:
            yield no_axis((axis,), axis, known_axes)
        elif value == []:
            yield Fault((axis,), "selects no case", "give at least one value, or leave it out")
        else:
            taken = ", ".join(map(shown, known_axes[axis]))
            for wanted in values(value):
                if json.dumps(wanted) not in map(json.dumps, known_axes[axis]):
                    yield Fault((axis,), f"is never {shown(wanted)}", f"it takes: {taken}")


def no_axis(path: Path, axis: str, known_axes: Axes) -> Fault:
    """Return the fault of an axis that does not exist."""
    hint = _DRIVER if axis in {"loader", "client"} else Nearest(axis, known_axes, "axes")
    return Fault(path, f"no axis {axis!r}", hint)


def values(value: JsonValue) -> tuple[JsonValue, ...]:
    """Return the values that one of a `where` stands for."""
    return tuple(value) if isinstance(value, list) else (value,)


def freeze_faults(suite: Suite, cases_of: Callable[[str], Iterable[CaseName]]) -> Iterator[Fault]:
    """Yield each scenario whose servers would stand still for too long, or have nobody beside."""
    for label, turns in all_turns(suite).items():
        of_scenario = suite.scenarios[label].interleave is not None
        path: Path = ("scenarios", label, KEY) if of_scenario else ("repeat", KEY)
        together = Counter(map(turns.group, cases_of(label)))
        most, least = max(together.values(), default=0), min(together.values(), default=0)
        frozen_s = longest_freeze_s(most, turns.slice_s)
        if least == 1:
            message = f"{label!r} compares a case with no other: nobody takes turns with it"
            yield Fault(path, message, 'set interleave = "off" in the scenario')
        elif frozen_s > LONGEST_FREEZE_S:
            message = f"{label!r}: with {most} {turns.among} in turns one stands still for up to "
            message += f"{amount('s', frozen_s)}, and connections may time out: at most "
            message += f"{amount('s', LONGEST_FREEZE_S)}"
            longest_ms = int(1000 * LONGEST_FREEZE_S / (2 * (most - 1)))
            yield Fault(path, message, f"a slice of {longest_ms}ms or less, {_OFF}")


def claim_faults(claims: Sequence[Claim], suite: Suite) -> Iterator[Fault]:
    """Yield each judged claim that turns cannot answer: they give ratios of one comparison."""
    turns, measured = all_turns(suite), set(suite.only or suite.scenarios)

    def group(case: CaseName) -> str:
        return turns[case.scenario].group(case) if case.scenario in turns else ""

    for claim in claims:
        between = {case.scenario for case in claim.cases}
        if not between & turns.keys() or not between <= measured:
            continue
        path: Path = ("claims", claim.label)
        if not suite.metrics[claim.metric].in_turns:
            message = f"{claim.metric!r} is not known where servers take turns"
            yield Fault((*path, "metric"), message, f"claim a throughput or CPU time, {_OFF}")
        if claim.hypothesis.form != "ratio":
            message = f"{claim.hypothesis.text}: where servers take turns only ratios are valid"
            yield Fault((*path, "holds"), message, f"such as a > 1.1 * b, {_OFF}")
        elif any(len(set(map(group, instance.cases))) > 1 for instance in claim.instances):
            message = "its sides do not take turns with one another"
            hint = "compare servers of one scenario and load tool, or clients of one server"
            if len(between) == 1:
                hint = 'set turns = "all" in the scenario'
            yield Fault(path, message, f"{hint}, {_OFF}")


class Subtracted(Frozen):
    """What is subtracted from a side, block by block: what it does not name is as in that side."""

    scenario: str | None = None
    "Label of the side's scenario. Default: the claim's."
    server: str | None = None
    "Label of the server."
    client: str | None = None
    "Label of the client."
    loader: str | None = None
    "Label of the load tool, instead of `client`."
    kind: str | None = None
    "Label of a kind of the scenario's mix. Default: all kinds together."
    stage: PositiveInt | None = None
    "Number of a stage of the load, from 1 on. Default: the whole load."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes, each with its value. They override the claim's."


class Side(Subtracted):
    """One side of a claim: it is exactly one case."""

    minus: Subtracted | None = None
    "Second case. Its values are subtracted block by block."


class ClaimTable(Frozen):
    """A table [claims.x], as a suite writes it."""

    says: str = ""
    "The claim in words."
    scenario: str | None = None
    "Label of the scenario. A side can set its own."
    metric: str
    "Label of the metric to compare."
    of: str | None = None
    "Part of the metric, such as p99 or server, if the metric has several."
    a: Side
    "First side."
    b: Side | None = None
    "Second side. Default: the claim is about `a` alone."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes, each with its value on both sides. Axes that a case does not have are ignored."
    each: str | None = None
    "Axis. The claim is tested once for each of its values."
    holds: str
    """Condition: `a > b`, `a >= 2 * b`, `a == b +- 3%`, `a - b < 2ms`, `a < 25ms`, or the same \
with `<` and `<=`. A bound without a unit is in the metric's unit."""
    margin: Share = Share(0.03)
    "Largest relative difference that counts as equal, for claims about a ratio."
    published: float | None = None
    "Value that a source publishes: the ratio, or the number in the metric's unit."
    original: str = ""
    "Error in the source's own measurement."


class Meant(NamedTuple):
    """Words of a side, or of what is subtracted from it, about its case."""

    at: Path
    scenario: str
    where: Mapping[str, JsonValue]
    "Server and driver are axes as others are."
    side: Subtracted
    "Table of the side alone, or of what is subtracted from it."


def all_meant(written: ClaimTable, path: Path) -> Iterator[Meant]:
    """Yield what each side means, and what is subtracted from it, at any value of `each`."""
    for key in ("a", "b"):
        yield from meant(written, (*path, key), {})


def meant(written: ClaimTable, path: Path, each: Mapping[str, JsonValue]) -> Iterator[Meant]:
    """Yield what a side means, then what is subtracted from it; nothing where there is no such."""
    scenario, where = written.scenario or "", {**written.where, **each}
    side: Side | None = getattr(written, str(path[-1]))
    minus = None if side is None else side.minus
    parts: list[tuple[Path, Subtracted | None]] = [(path, side), ((*path, "minus"), minus)]
    for part_path, part in parts:
        if part is not None:
            driver = part.client or part.loader
            values = {"server": part.server, "driver": driver, KIND: part.kind, STAGE: part.stage}
            named: dict[str, JsonValue] = {k: v for k, v in values.items() if v is not None}
            scenario = part.scenario or scenario
            where |= part.where | named
            yield Meant(part_path, scenario, dict(where), part)
