"""The tables [tables.x] of a suite: every name in them looked up, and one case a cell."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from benchforge.model.frozen import Frozen
from benchforge.model.pivot import Pivot, Statistic, crowded
from benchforge.suite.complaints import Complaints
from benchforge.suite.document import Tables
from benchforge.suite.expand import named
from benchforge.suite.faults import nearest
from benchforge.suite.positions import Path
from benchforge.suite.suite import Scenario, Suite
from benchforge.suite.where import Axes, axes, misplaced, values


def _one_or_several(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


_Names = Annotated[
    tuple[str, ...],
    BeforeValidator(_one_or_several, json_schema_input_type=str | tuple[str, ...]),
]


class Written(Frozen):
    """A table [tables.x], as a suite writes it."""

    title: str = ""
    "Above the table; its label without it."
    scenario: str | None = None
    "Whose cases it shows."
    scenarios: tuple[str, ...] = ()
    "In place of `scenario`."
    rows: _Names
    "Axes: `scenario`, `server`, `driver`, or the path of an option that varies."
    columns: _Names = ()
    "Axes, the outer one first."
    metric: str | None = None
    "The label of what it shows."
    metrics: tuple[str, ...] = ()
    "In place of `metric`."
    show: tuple[Statistic, ...] = ("median", "range")
    "Statistics over the trials of a case; `average` is the mean, `range` lowest to highest."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes to the value, or the values, of the cases that are kept."


def pivots(
    tables: Mapping[str, Tables],
    metrics: Sequence[str],
    labels: Sequence[str],
    scenarios: Mapping[str, Scenario],
    complaints: Complaints,
) -> dict[str, Pivot]:
    """Return every table that is sound; complain of the others.

    `metrics` and `labels` are those that the suite declares, `scenarios` those that are sound.
    """
    found: dict[str, Pivot] = {}
    for label, table in tables.items():
        written = complaints.parse(Written, table, ("tables", label))
        if written is not None:
            one = _Table(("tables", label), table, written, complaints)
            if (pivot := one.pivot(metrics, labels, scenarios)) is not None:
                found[label] = pivot
    return found


def check_cells(tables: Mapping[str, Pivot], suite: Suite, complaints: Complaints) -> None:
    """Complain of each table that has no case, or several in one cell.

    `suite` holds every scenario that a table may name, those that are not to be run too.
    """
    for label, pivot in tables.items():
        at = ("tables", label)
        cases = [case for one in pivot.scenarios for case in named(suite, one) if pivot.has(case)]
        if not cases:
            complaints.at((*at, "where"), "no case is left", "no case has all of these values")
        if forgotten := crowded(pivot, cases):
            differ = "; ".join(
                f"{axis} ({', '.join(value or 'none' for value in values)})"
                for axis, values in forgotten.items()
            )
            axis, values = next(iter(forgotten.items()))
            value = next(filter(None, values))
            hint = f'add "{axis}" to rows or columns, or keep one: where = {{ "{axis}" = {value} }}'
            complaints.at(at, f"several cases in one cell: they differ in {differ}", hint)


class _Table:
    """One table on its way to a Pivot."""

    def __init__(self, at: Path, table: Tables, written: Written, complaints: Complaints) -> None:
        self._at = at
        self._table = table
        self._written = written
        self._complaints = complaints
        self._sound = True

    def pivot(
        self,
        metrics: Sequence[str],
        labels: Sequence[str],
        scenarios: Mapping[str, Scenario],
    ) -> Pivot | None:
        """Return the table; None where something is wrong with it."""
        written = self._written
        here = self._named("scenario", written.scenario, written.scenarios, labels)
        asked = self._named("metric", written.metric, written.metrics, metrics)
        if here and all(label in scenarios for label in here):  # else there is a complaint already
            known = {label: scenarios[label] for label in here}
            known_axes = axes(known)
            self._check_taken(asked, metrics, list(known.values()))
            self._check_axes(known_axes)
            self._check_where(known_axes)
        self._check_twice("show", written.show)
        for key, names in (("rows", written.rows), ("show", written.show)):
            if not names:
                self._wrong((*self._at, key), "names nothing", "give at least one")
        if not self._sound:
            return None
        return Pivot(
            title=written.title,
            scenarios=here,
            rows=written.rows,
            columns=written.columns,
            metrics=asked,
            show=written.show,
            where={axis: values(value) for axis, value in written.where.items()},
        )

    def _named(
        self, one: str, name: str | None, names: tuple[str, ...], known: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the names under a key or under its plural: one of the two, all declared."""
        several = f"{one}s"
        if name is None and not names:
            at = (*self._at, several) if several in self._table else self._at
            self._wrong(at, f"{one!r} is missing", f"declared: {', '.join(known) or 'none'}")
        elif name is not None and several in self._table:
            self._wrong((*self._at, several), f"{one!r} stands here too", "leave one of them out")
        key, chosen = (several, names) if name is None else (one, (name,))
        for at, label in self._each(key, chosen):
            if label not in known:
                self._wrong(
                    at, f"no {one} {label!r} is declared", nearest(label, known, "declared")
                )
        self._check_twice(key, chosen)
        return chosen

    def _check_taken(
        self, asked: Sequence[str], metrics: Sequence[str], known: Sequence[Scenario]
    ) -> None:
        if any(scenario.metrics is None for scenario in known):
            return
        taken = list(dict.fromkeys(label for one in known for label in one.metrics or ()))
        key = "metric" if self._written.metric is not None else "metrics"
        for at, label in self._each(key, asked):
            if label in metrics and label not in taken:
                hint = nearest(label, taken, "taken")
                self._wrong(at, f"no scenario of this table takes {label!r}", hint)

    def _check_axes(self, known: Axes) -> None:
        seen: set[str] = set()
        for key in ("rows", "columns"):
            for at, axis in self._each(key, getattr(self._written, key)):
                if axis not in known:
                    self._wrong(at, f"no axis {axis!r}", nearest(axis, known, "axes"))
                elif axis in seen:
                    self._wrong(at, f"{axis!r} is an axis twice", "leave one out")
                seen.add(axis)

    def _check_where(self, known: Axes) -> None:
        for axis, message, hint in misplaced(self._written.where, known):
            self._wrong((*self._at, "where", axis), message, hint)

    def _check_twice(self, key: str, names: Sequence[str]) -> None:
        for number, (at, name) in enumerate(self._each(key, names)):
            if name in names[:number]:
                self._wrong(at, f"{name!r} is named twice", "leave one out")

    def _each(self, key: str, names: Sequence[str]) -> Iterator[tuple[Path, str]]:
        """Yield each name with the place where it was written."""
        in_array = isinstance(self._table.get(key), list)
        for number, name in enumerate(names):
            yield (*self._at, key, *((number,) if in_array else ())), name

    def _wrong(self, at: Path, message: str, hint: str) -> None:
        self._sound = False
        self._complaints.at(at, message, hint)
