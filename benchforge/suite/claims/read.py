"""The claims of a suite: every name in them looked up, and one case a side."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import JsonValue

from benchforge.model.suite.claim import Hypothesis, Relation
from benchforge.model.values.case_name import KIND, STAGE
from benchforge.parts.part import Metric
from benchforge.suite.claims.where import Axes, ClaimTable, Meant, all_meant, axes, misplaced
from benchforge.suite.suite import Scenario
from benchforge.suite.toml.bound import NUMBER, UNIT, NoBound, in_unit, named, number
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import exact

FORMS = "a > b, a < b, a >= 2 * b, a == b +- 3%, a - b < 2ms, a < 25ms, a == 5 +- 10%"

_HOLDS = re.compile(
    r"a(?P<less>\s*-\s*b)?\s*(?P<relation>>=|<=|==|>|<)\s*"
    rf"(?:(?:(?P<factor>{NUMBER})\s*\*\s*)?(?P<b>b)|(?P<bound>{NUMBER})\s*(?P<unit>{UNIT})?)"
    rf"(?:\s*(?:\+-|±)\s*(?P<within>{NUMBER})\s*(?P<of>{UNIT})?)?"
)
_LONGEST = 200  # characters: nobody means more
_SHARE = "%"


def question(text: str, unit: str) -> Hypothesis:
    """Return the hypothesis about a metric of this unit. Raises NoBound if the text has none.

    Bounds are converted to the unit. A tolerance in % is a share of the bound.
    """
    match = _HOLDS.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise NoBound(f"{text[:_LONGEST]!r} is not a condition", _hint(text))
    relation = cast("Relation", match["relation"])
    form: Literal["ratio", "difference", "value"] = "difference" if match["less"] else "value"
    if match["b"]:
        if form == "difference":
            raise NoBound("a difference is compared with a number", f"write one of: {FORMS}")
        form, bound = "ratio", number(match["factor"] or "1")
        if bound <= 0:
            raise NoBound(f"a factor is above 0, not {exact(bound)}", "write it like a >= 2 * b")
    else:
        bound = in_unit(number(match["bound"]), match["unit"] or "", unit)
    within = None
    if match["within"]:
        if relation != "==":
            raise NoBound(f"{relation} has no tolerance", "leave it out, or write ==")
        within = _tolerance(number(match["within"]), match["of"] or "", form, bound, unit)
    elif relation == "==":
        hint = f"give a tolerance: {text.strip()} +- 3%"
        raise NoBound("two measurements are never exactly equal", hint)
    text = text.strip()
    return Hypothesis(text=text, form=form, relation=relation, bound=bound, tolerance=within)


def _tolerance(within: float, written_unit: str, form: str, bound: float, unit: str) -> float:
    if form == "ratio" and written_unit != _SHARE:
        raise NoBound("the tolerance of a ratio is a share of it", "write it like +- 3%")
    if written_unit == _SHARE:
        share = within / 100
        tolerance = share if form == "ratio" else share * abs(bound)
        if share > 0 and not tolerance:
            raise NoBound("no share of 0 is a tolerance", f"give it in {named(unit)}")
    else:
        tolerance = in_unit(within, written_unit, unit)
    if not 0 < tolerance < math.inf:
        raise NoBound(f"a tolerance is above 0, not {exact(within)}", "write it like +- 3%")
    return tolerance


def _hint(text: str) -> str:
    if re.match(r"\s*a\s*(=[^=]|!=|=$)", text):
        return "an equality needs a tolerance: write a == b +- 3%"
    if re.match(r"\s*b\b", text):
        return f"`a` comes first: write one of: {FORMS}"
    return f"write one of: {FORMS}"


@dataclass(frozen=True)
class SoundClaim:
    """A claim whose names are all there; which cases are meant is not looked at yet."""

    at: Path
    written: ClaimTable
    question: Hypothesis
    of: str | None
    each: Sequence[JsonValue]
    "Values that the claim is tested for; empty if it is tested once."


def sound_claims(
    tables: Mapping[str, Tables],
    metrics: Mapping[str, Metric],
    labels: Mapping[str, Sequence[str]],
    scenarios: Mapping[str, Scenario],
) -> Checked[dict[str, SoundClaim]]:
    """Return the sound claims; `metrics` and `scenarios` are sound, `labels` all declared."""
    claims: dict[str, SoundClaim] = {}
    for label, table in tables.items():
        written = yield from checked(ClaimTable, table, ("claims", label))
        if written is not None:
            claim = yield from _Claim(("claims", label), written).sound(metrics, labels, scenarios)
            if claim is not None:
                claims[label] = claim
    return claims


@dataclass(frozen=True)
class _Claim:
    """A claim as it is written, whose names are looked up."""

    at: Path
    written: ClaimTable

    @property
    def meant(self) -> list[Meant]:
        """What its sides mean, and what is subtracted from them."""
        return [*all_meant(self.written, self.at)]

    def sound(
        self,
        metrics: Mapping[str, Metric],
        labels: Mapping[str, Sequence[str]],
        scenarios: Mapping[str, Scenario],
    ) -> Checked[SoundClaim | None]:
        """Return the claim; None where something is wrong with it."""
        written = self.written
        faults = [*self._scenario_faults(labels["scenarios"])]
        wanted_labels = (written.scenario, *(meant.side.scenario for meant in self.meant))
        concerned = [
            *dict.fromkeys(key for key in wanted_labels if key and key in labels["scenarios"])
        ]
        by_label = {label: scenarios[label] for label in concerned if label in scenarios}
        has_all = len(by_label) == len(concerned)  # else a scenario has a fault of its own
        taken = axes(by_label) if concerned and has_all else {}
        for wanted in self.meant:
            if wanted.side.client is not None and wanted.side.loader is not None:
                problem = "'client' is set, too"
                faults.append(Fault((*wanted.at, "loader"), problem, "leave one of them out"))
            if wanted.scenario in by_label:
                faults += self._label_faults(wanted, by_label[wanted.scenario])
        if taken:
            faults += self._axis_faults(taken)
        if written.metric in labels["metrics"]:
            faults += self._faults_of_taken(by_label)
        else:
            message = f"no metric {written.metric!r} is declared"
            hint = Nearest(written.metric, labels["metrics"], "declared")
            faults.append(Fault((*self.at, "metric"), message, hint))
        yield from faults
        metric = metrics.get(written.metric)
        if metric is None:
            return None
        extent = {KIND: "all kinds together", STAGE: "the whole load"}
        parts = {axis for meant in self.meant for axis in meant.where} | {written.each}
        for axis in (KIND, STAGE):
            if metric.of_kinds or axis not in parts:
                continue
            problem = f"{written.metric!r} is of {extent[axis]}"
            faults.append(Fault((*self.at, "metric"), problem, f"leave the {axis} out"))
            yield faults[-1]
        part, of_faults = self._part(metric)
        yield from of_faults
        hypothesis = yield from self._hypothesis(metric)
        if faults or of_faults or hypothesis is None or not has_all:
            return None
        each = () if written.each is None else taken.get(written.each, ())
        return SoundClaim(self.at, written, hypothesis, part, each)

    def _scenario_faults(self, names: Sequence[str]) -> Iterator[Fault]:
        written = self.written
        if written.scenario is None and not all(meant.scenario for meant in self.meant):
            yield Fault(self.at, "'scenario' is missing", f"declared: {', '.join(names) or 'none'}")
        places = [(self.at, written.scenario)]
        places += [(meant.at, meant.side.scenario) for meant in self.meant]
        for key_path, label in places:
            if label is not None and label not in names:
                hint = Nearest(label, names, "declared")
                yield Fault((*key_path, "scenario"), f"no scenario {label!r} is declared", hint)

    def _label_faults(self, meant: Meant, scenario: Scenario) -> Iterator[Fault]:
        labels_by_key = {
            "server": scenario.servers,
            "client": scenario.clients,
            "loader": scenario.loaders,
            "kind": scenario.kind_labels,
            "stage": range(1, max(scenario.stage_counts.values(), default=0) + 1),
        }
        for key, labels in labels_by_key.items():
            label = getattr(meant.side, key)
            if label is not None and label not in labels:
                message = f"scenario {meant.scenario!r} has no {key} {label!r}"
                near = Nearest(str(label), [*map(str, labels)], "it has")
                yield Fault((*meant.at, key), message, near)

    def _axis_faults(self, taken: Axes) -> Iterator[Fault]:
        written = self.written
        places = [(self.at, written.where)]
        places += [(meant.at, meant.side.where) for meant in self.meant]
        for path, where in places:
            # An array is one value here: a side is one case.
            single: Tables = {k: [v] if isinstance(v, list) else v for k, v in where.items()}
            for fault in misplaced(single, taken):
                yield fault.below((*path, "where"))
        if written.each is not None and written.each not in taken:
            hint = Nearest(written.each, taken, "axes")
            yield Fault((*self.at, "each"), f"no axis {written.each!r}", hint)

    def _faults_of_taken(self, concerned: Mapping[str, Scenario]) -> Iterator[Fault]:
        metric = self.written.metric
        for label, scenario in concerned.items():
            if scenario.find is not None:
                message = f"{label!r} searches for a rate: a claim cannot use its metrics"
                yield Fault(self.at, message, "use a scenario with a fixed load")
            elif scenario.metrics is not None and metric not in scenario.metrics:
                message = f"scenario {label!r} does not take {metric!r}"
                near = Nearest(metric, scenario.metrics, "it takes")
                yield Fault((*self.at, "metric"), message, near)

    def _part(self, metric: Metric) -> tuple[str | None, Sequence[Fault]]:
        parts, part_, label = metric.parts(), self.written.of, self.written.metric
        if not parts or part_ in parts:
            return part_, ()
        if part_ is None and len(parts) == 1:
            return parts[0], ()
        names = [part or "the whole" for part in parts]
        if part_ is None:
            hint = f'write of = "{names[0]}"; it has: {", ".join(names)}'
            return part_, [Fault(self.at, f"{label!r} has several parts, and no `of`", hint)]
        near = Nearest(part_, names, "it has")
        return part_, [Fault((*self.at, "of"), f"{label!r} has no part {part_!r}", near)]

    def _hypothesis(self, metric: Metric) -> Checked[Hypothesis | None]:
        try:
            hypothesis = question(self.written.holds, metric.unit)
        except NoBound as error:
            yield Fault((*self.at, "holds"), error.message, error.hint)
            return None
        faults = list(self._hypothesis_faults(hypothesis, metric))
        yield from faults
        return None if faults else hypothesis

    def _hypothesis_faults(self, hypothesis: Hypothesis, metric: Metric) -> Iterator[Fault]:
        path, written = (*self.at, "holds"), self.written
        if hypothesis.form == "value" and written.b is not None:
            yield Fault((*self.at, "b"), f"{hypothesis.text} does not use `b`", "leave it out")
        elif hypothesis.form != "value" and written.b is None:
            yield Fault(path, f"{hypothesis.text} needs `b`, which is missing", "add b = { ... }")
        ordered = hypothesis.form == "ratio" and hypothesis.relation != "=="
        if "margin" in written.model_fields_set and not ordered:
            hint = "leave it out: a margin applies to a > b, a < 2 * b and similar"
            yield Fault((*self.at, "margin"), f"{hypothesis.text} has no margin", hint)
        if metric.measurand == "failed requests" and hypothesis.form != "ratio":
            hint = 'use their share instead: a metric with use = "error_rate"'
            yield Fault(path, "the number of errors depends on the number of requests", hint)
