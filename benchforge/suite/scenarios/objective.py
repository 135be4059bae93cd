"""An objective as a suite writes it: "latency p99 < 50ms" to a bound in the metric's unit.

In a scenario with kinds it may name one of them: "latency p99 browse < 50ms".
"""

import re
from collections.abc import Collection, Mapping

from benchforge.errors import BenchforgeError
from benchforge.model.suite.search import Objective, Relation
from benchforge.parts.part import Metric
from benchforge.suite.toml.bound import NoBound, bound
from benchforge.suite.toml.faults import Hint, Nearest, nearest
from benchforge.text.readable import conjoined

_FORM = 'write "METRIC PART < BOUND", such as "latency p99 < 50ms" or "error_rate < 0.1%"'
_PATTERN = re.compile(
    r"\s*(?P<metric>[\w-]+)(?:\s+(?P<of>[^<>=]*[^<>=\s]))?"
    r"\s*(?P<relation><=|>=|<|>)\s*(?P<bound>[^<>=]*[^<>=\s])\s*"
)
_RELATIONS: Mapping[str, tuple[Relation, Relation]] = {"lower": ("<", "<="), "higher": (">", ">=")}


class WrongObjective(BenchforgeError):
    """An objective that is none; the hint may compare names when it is printed."""

    def __init__(self, message: str, hint: Hint = "") -> None:
        super().__init__(message, str(hint))


def objective(text: str, metrics: Mapping[str, Metric], kinds: Collection[str] = ()) -> Objective:
    """Return an objective of one of the metrics, by label. Raises WrongObjective."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise WrongObjective(f"not an objective: {text!r}", _FORM)
    label, of = match["metric"], match["of"]
    if label not in metrics:
        raise WrongObjective(
            f"no metric {label!r} is declared", Nearest(label, sorted(metrics), "declared")
        )
    metric = metrics[label]
    parts = metric.parts()
    kind: str | None = None
    if of is not None and of not in parts:
        of, kind = _with_kind(of, kinds)
    if kind is not None and not metric.of_kinds:
        raise WrongObjective(f"{label!r} is of all kinds together", "leave the kind out")
    if parts and of not in parts and not (of is None and len(parts) == 1):
        choices = [*(part for part in parts if part), *kinds]
        what = f"{label} has no {of!r}" if of else f"{label} has several parts"
        raise WrongObjective(what, nearest(of or "", choices, "it has"))
    fit = _RELATIONS[metric.better]
    relation: Relation | None = next(
        (candidate for candidate in fit if candidate == match["relation"]), None
    )
    if relation is None:
        better = f"{metric.better} values of {label} are the better ones"
        hint = f"{better}: write {conjoined(fit, 'or')}"
        raise WrongObjective(f"even the worst server keeps this objective: {text!r}", hint)
    try:
        least = bound(match["bound"], metric.unit)
    except NoBound as error:
        message, hint = error.args
        raise WrongObjective(f"{label}: {message}", hint) from None
    if least < 0:
        raise WrongObjective(f"{label} is never below 0: {text!r}", _FORM)
    text = " ".join(text.split())
    return Objective(text=text, metric=label, of=of, kind=kind, relation=relation, bound=least)


def _with_kind(words: str, kinds: Collection[str]) -> tuple[str | None, str | None]:
    """Return the part and the kind that the words behind a metric name; the kind is the last."""
    part, _, last = words.rpartition(" ")
    return (part.strip() or None, last) if last in kinds else (words, None)
