"""The tables [tables.x] of a suite: every name in them looked up, and one case a cell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from benchforge.model.suite.pivot import Pivot, Statistic, crowded
from benchforge.model.values.frozen import Frozen
from benchforge.suite.cases.expand import named
from benchforge.suite.claims.where import Axes, axes, misplaced, no_axis, values, with_parts
from benchforge.suite.suite import Scenario, Suite
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked
from benchforge.suite.toml.positions import Path

_Names = Annotated[
    tuple[str, ...],
    BeforeValidator(
        lambda name: values(name) if isinstance(name, str | list) else name,
        json_schema_input_type=str | tuple[str, ...],
    ),
]


class PivotTable(Frozen):
    """A table [tables.x], as a suite writes it."""

    title: str = ""
    "Title of the table. Default: its label."
    scenario: str | None = None
    "Label of the scenario whose cases the table shows."
    scenarios: tuple[str, ...] = ()
    "Labels of several scenarios, instead of `scenario`."
    rows: _Names
    "Axes of the rows: `scenario`, `server`, `driver`, or the path of an option that varies."
    columns: _Names = ()
    "Axes of the columns, the outermost first."
    metric: str | None = None
    "Label of the metric."
    metrics: tuple[str, ...] = ()
    "Labels of several metrics, instead of `metric`."
    show: tuple[Statistic, ...] = ("median", "range")
    "Statistics over the trials of a case. `average` is the mean, `range` is lowest to highest."
    where: dict[str, JsonValue] = Field(default_factory=dict)
    "Axes, each with the value or values of the cases to show."


def pivots(
    tables: Mapping[str, Tables],
    metrics: Sequence[str],
    labels: Sequence[str],
    scenarios: Mapping[str, Scenario],
) -> Checked[dict[str, Pivot]]:
    """Return the sound tables; `metrics` and `labels` are all declared, `scenarios` the sound."""
    sound_pivots: dict[str, Pivot] = {}
    for label, table in tables.items():
        path = ("tables", label)
        written = yield from checked(PivotTable, table, path)
        if written is not None:
            faults = list(_Table(path, table, written).faults(metrics, labels, scenarios))
            yield from faults
            if not faults:
                sound_pivots[label] = Pivot(
                    title=written.title,
                    scenarios=_chosen(written.scenario, written.scenarios),
                    rows=written.rows,
                    columns=written.columns,
                    metrics=_chosen(written.metric, written.metrics),
                    show=written.show,
                    where={axis: values(value) for axis, value in written.where.items()},
                )
    return sound_pivots


def cell_faults(tables: Mapping[str, Pivot], suite: Suite) -> Iterator[Fault]:
    """Yield each table without a case, or with several in a cell; `suite` has all scenarios."""
    for label, pivot in tables.items():
        path = ("tables", label)
        names = (case for scenario in pivot.scenarios for case in named(suite, scenario))
        cases = [case for case in with_parts(names, suite.scenarios) if pivot.has(case)]
        if not cases:
            yield Fault((*path, "where"), "no case is left", "no case has all of these values")
        if forgotten := crowded(pivot, cases):
            differ = "; ".join(
                f"{axis} ({', '.join(value or 'none' for value in values)})"
                for axis, values in forgotten.items()
            )
            axis, values = next(iter(forgotten.items()))
            value = next(filter(None, values))
            hint = f'add "{axis}" to rows or columns, or keep one: where = {{ "{axis}" = {value} }}'
            yield Fault(path, f"several cases in one cell: they differ in {differ}", hint)


def _chosen(name: str | None, names: tuple[str, ...]) -> tuple[str, ...]:
    return names if name is None else (name,)


@dataclass(frozen=True)
class _Table:
    """A table as it is written, whose names are looked up."""

    at: Path
    table: Tables
    written: PivotTable

    def faults(
        self, metrics: Sequence[str], labels: Sequence[str], scenarios: Mapping[str, Scenario]
    ) -> Iterator[Fault]:
        """Yield what is wrong with the table."""
        written = self.written
        yield from self._name_faults("scenario", written.scenario, written.scenarios, labels)
        yield from self._name_faults("metric", written.metric, written.metrics, metrics)
        chosen = _chosen(written.scenario, written.scenarios)
        # Else there is a fault already.
        if chosen and all(label in scenarios for label in chosen):
            by_label = {label: scenarios[label] for label in chosen}
            known_axes = axes(by_label)
            yield from self._search_faults(by_label)
            yield from self._taken_faults(metrics, list(by_label.values()))
            yield from self._axis_faults(known_axes)
            for fault in misplaced(written.where, known_axes):
                yield fault.below((*self.at, "where"))
        yield from self._twice("show", written.show)
        for key, names in (("rows", written.rows), ("show", written.show)):
            if not names:
                yield Fault((*self.at, key), "is empty", "give at least one")

    def _name_faults(
        self, singular: str, name: str | None, names: tuple[str, ...], declared: Sequence[str]
    ) -> Iterator[Fault]:
        """Yield what is wrong with a key or its plural: one of the two, its names all declared."""
        several = f"{singular}s"
        if name is None and not names:
            path = (*self.at, several) if several in self.table else self.at
            hint = f"declared: {', '.join(declared) or 'none'}"
            yield Fault(path, f"{singular!r} is missing", hint)
        elif name is not None and several in self.table:
            yield Fault((*self.at, several), f"{singular!r} is set, too", "leave one of them out")
        key, chosen = several if name is None else singular, _chosen(name, names)
        for path, label in self._each(key, chosen):
            if label not in declared:
                near = Nearest(label, declared, "declared")
                yield Fault(path, f"no {singular} {label!r} is declared", near)
        yield from self._twice(key, chosen)

    def _search_faults(self, chosen: Mapping[str, Scenario]) -> Iterator[Fault]:
        key = "scenario" if self.written.scenario is not None else "scenarios"
        for path, label in self._each(key, tuple(chosen)):
            if chosen[label].find is not None:
                hint = "what it finds stands in every report, and in searches.csv"
                yield Fault(path, f"{label!r} searches for a rate: it has no metric to draw", hint)

    def _taken_faults(self, metrics: Sequence[str], drawn: Sequence[Scenario]) -> Iterator[Fault]:
        if any(scenario.metrics is None for scenario in drawn):
            return
        taken = dict.fromkeys(label for scenario in drawn for label in scenario.metrics or ())
        key = "metric" if self.written.metric is not None else "metrics"
        for path, label in self._each(key, _chosen(self.written.metric, self.written.metrics)):
            if label in metrics and label not in taken:
                hint = Nearest(label, taken, "taken")
                yield Fault(path, f"no scenario of this table takes {label!r}", hint)

    def _axis_faults(self, known_axes: Axes) -> Iterator[Fault]:
        axes_read: set[str] = set()
        for key in ("rows", "columns"):
            for path, axis in self._each(key, getattr(self.written, key)):
                if axis not in known_axes:
                    yield no_axis(path, axis, known_axes)
                elif axis in axes_read:
                    yield Fault(path, f"{axis!r} is an axis twice", "leave one out")
                axes_read.add(axis)

    def _twice(self, key: str, names: Sequence[str]) -> Iterator[Fault]:
        for number, (path, name) in enumerate(self._each(key, names)):
            if name in names[:number]:
                yield Fault(path, f"{name!r} is named twice", "leave one out")

    def _each(self, key: str, names: Sequence[str]) -> Iterator[tuple[Path, str]]:
        in_array = isinstance(self.table.get(key), list)
        for number, name in enumerate(names):
            yield (*self.at, key, *((number,) if in_array else ())), name
