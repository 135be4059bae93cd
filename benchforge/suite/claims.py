"""The claims of a suite: every name in them looked up, and one case a side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from benchforge.model.claim import Question
from benchforge.parts.part import Metric
from benchforge.suite.asking import Meant, Subtracted, Written, all_meant, side_at, sides
from benchforge.suite.bound import NoBound
from benchforge.suite.complaints import Complaints
from benchforge.suite.document import Tables
from benchforge.suite.faults import nearest
from benchforge.suite.holds import question
from benchforge.suite.positions import Path
from benchforge.suite.suite import Scenario
from benchforge.suite.where import axes, misplaced

_COUNTS = "errors"


@dataclass(frozen=True)
class Sound:
    """A claim whose names are all there; which cases are meant is not looked at yet."""

    at: Path
    written: Written
    question: Question
    of: str | None
    each: Sequence[JsonValue]
    "The values that it is asked for; empty where it is asked once."


def sound_claims(
    tables: Mapping[str, Tables],
    metrics: Mapping[str, Metric],
    labels: Mapping[str, Sequence[str]],
    scenarios: Mapping[str, Scenario],
    complaints: Complaints,
) -> dict[str, Sound]:
    """Return every claim that is sound in itself; complain of the others.

    `metrics` and `scenarios` are those that are sound, `labels` all that are declared.
    """
    found: dict[str, Sound] = {}
    for label, table in tables.items():
        written = complaints.parse(Written, table, ("claims", label))
        if written is not None:
            one = _Reading(("claims", label), written, complaints)
            if (sound := one.sound(metrics, labels, scenarios)) is not None:
                found[label] = sound
    return found


class _Reading:
    """One claim on its way to be sound."""

    def __init__(self, at: Path, written: Written, complaints: Complaints) -> None:
        self._at = at
        self._written = written
        self._complaints = complaints
        self._sound = True

    def sound(
        self,
        metrics: Mapping[str, Metric],
        labels: Mapping[str, Sequence[str]],
        scenarios: Mapping[str, Scenario],
    ) -> Sound | None:
        """Return the claim; None where something is wrong with it."""
        written = self._written
        for at, side in sides(written, self._at):
            self._check_driver(at, side)
        here = self._scenarios(labels["scenarios"])
        known = {label: scenarios[label] for label in here if label in scenarios}
        if len(known) < len(here):
            self._sound = False  # a complaint of its own says so
        for wanted in all_meant(written, self._at, {}):
            if wanted.scenario in known:
                self._check_labels(wanted, known[wanted.scenario])
        each = self._check_axes(known) if here and len(known) == len(here) else ()
        if written.metric not in labels["metrics"]:
            message = f"no metric {written.metric!r} is declared"
            hint = nearest(written.metric, labels["metrics"], "declared")
            self._wrong((*self._at, "metric"), message, hint)
        else:
            self._check_taken(known)
        metric = metrics.get(written.metric)
        if metric is None:
            return None
        of = self._part(metric)
        asked = self._question(metric)
        if not self._sound or asked is None:
            return None
        return Sound(self._at, written, asked, of, each)

    def _scenarios(self, labels: Sequence[str]) -> list[str]:
        """Return the labels of all scenarios that it is about; complain of what is missing."""
        written, found = self._written, dict[str, None]()
        if written.scenario is None and any(
            side.scenario is None for _, side in sides(written, self._at, inner=False)
        ):
            hint = f"declared: {', '.join(labels) or 'none'}"
            self._wrong(self._at, "'scenario' is missing", hint)
        places = [(self._at, written.scenario)]
        places += [(at, side.scenario) for at, side in sides(written, self._at)]
        for at, label in places:
            if label is not None and label not in labels:
                hint = nearest(label, labels, "declared")
                self._wrong((*at, "scenario"), f"no scenario {label!r} is declared", hint)
            elif label is not None:
                found[label] = None
        return list(found)

    def _check_driver(self, at: Path, side: Subtracted) -> None:
        if side.client is not None and side.loader is not None:
            self._wrong((*at, "loader"), "'client' stands here too", "leave one of them out")

    def _check_labels(self, meant: Meant, scenario: Scenario) -> None:
        known = {
            "server": scenario.servers,
            "client": scenario.clients,
            "loader": scenario.loaders,
        }
        side = side_at(self._written, meant.at)
        for key, labels in known.items():
            label = getattr(side, key)
            if label is not None and label not in labels:
                message = f"scenario {meant.scenario!r} has no {key} {label!r}"
                self._wrong((*meant.at, key), message, nearest(label, labels, "it has"))

    def _check_axes(self, known: Mapping[str, Scenario]) -> Sequence[JsonValue]:
        """Complain of what no scenario here varies; return the values of `each`."""
        written, taken = self._written, axes(known)
        places = [(self._at, written.where)]
        places += [(at, side.where) for at, side in sides(written, self._at)]
        for at, where in places:
            # An array is one value here: a side is one case.
            for axis, message, hint in misplaced({k: _one(v) for k, v in where.items()}, taken):
                self._wrong((*at, "where", axis), message, hint)
        if written.each is None:
            return ()
        if written.each not in taken:
            hint = nearest(written.each, taken, "axes")
            self._wrong((*self._at, "each"), f"no axis {written.each!r}", hint)
        return taken.get(written.each, ())

    def _check_taken(self, known: Mapping[str, Scenario]) -> None:
        for label, scenario in known.items():
            if scenario.find is not None:
                message = f"{label!r} searches for a rate: no metric of it can be asked about"
                self._wrong(self._at, message, "claim it of a scenario with a load that is given")
            elif scenario.metrics is not None and self._written.metric not in scenario.metrics:
                message = f"scenario {label!r} does not take {self._written.metric!r}"
                hint = nearest(self._written.metric, scenario.metrics, "it takes")
                self._wrong((*self._at, "metric"), message, hint)

    def _part(self, metric: Metric) -> str | None:
        """Return what part of the metric is meant: without `of`, the only one."""
        parts, of = metric.parts(), self._written.of
        if not parts or of in parts:
            return of
        names = [one or "the whole" for one in parts]
        if of is None:
            if len(parts) == 1:
                return parts[0]
            message = f"{self._written.metric!r} has several parts: which one?"
            self._wrong(self._at, message, f'write of = "{names[0]}"; it has: {", ".join(names)}')
        else:
            message = f"{self._written.metric!r} has no part {of!r}"
            self._wrong((*self._at, "of"), message, nearest(of, names, "it has"))
        return of

    def _question(self, metric: Metric) -> Question | None:
        at, written = (*self._at, "holds"), self._written
        try:
            asked = question(written.holds, metric.unit)
        except NoBound as error:
            self._wrong(at, *error.args)
            return None
        if asked.form == "value" and written.b is not None:
            self._wrong((*self._at, "b"), f"{asked.text} does not ask for it", "leave it out")
        elif asked.form != "value" and written.b is None:
            self._wrong(at, f"{asked.text} asks for b, and there is none", "add b = { ... }")
        ordered = asked.form == "ratio" and asked.relation != "=="
        if "margin" in written.model_fields_set and not ordered:
            message = f"{asked.text} has no margin"
            hint = "leave it out: it is for a > b, a < 2 * b and their like"
            self._wrong((*self._at, "margin"), message, hint)
        if metric.name == _COUNTS and asked.form != "ratio":
            hint = 'ask for the share of them, with a metric that has use = "error_rate"'
            self._wrong(at, "a number of errors depends on how many requests there were", hint)
        return asked

    def _wrong(self, at: Path, message: str, hint: str) -> None:
        self._sound = False
        self._complaints.at(at, message, hint)


def _one(value: JsonValue) -> JsonValue:
    return [value] if isinstance(value, list) else value
