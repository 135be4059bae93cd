"""A scenario's search for a rate: what it looks for, and what is wrong with it."""

import re
from collections.abc import Collection, Iterator, Mapping

from pydantic import ValidationError

from benchforge.model.suite.search import ERRORS_BELOW, Objective, RateSearch, Relation
from benchforge.model.values.units import FAILURES, Rate
from benchforge.parts.part import Driver, Loader, Metric
from benchforge.suite.declared import metrics as metrics_of
from benchforge.suite.matrix import axis
from benchforge.suite.suite import Declared, Parts, Repeat, Scenario, Suite, Wanted
from benchforge.suite.toml.bound import NoBound, bound
from benchforge.suite.toml.faults import Fault, nearest
from benchforge.suite.toml.models import findings, typed
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import conjoined, exact

_FORM = 'write "METRIC PART < BOUND", such as "latency p99 < 50ms" or "error_rate < 0.1%"'
_PATTERN = re.compile(
    r"\s*(?P<metric>[\w-]+)(?:\s+(?P<of>[^<>=]*[^<>=\s]))?"
    r"\s*(?P<relation><=|>=|<|>)\s*(?P<bound>[^<>=]*[^<>=\s])\s*"
)
_RELATIONS: Mapping[str, tuple[Relation, Relation]] = {"lower": ("<", "<="), "higher": (">", ">=")}

_RATE = "rate"
_COUNTS = {"blocks", "until", "between", "placebo"}
"Keys of [repeat] that say how often a case is measured."


def find_of(
    scenario: Scenario, loaders: Mapping[str, Declared], metrics: Mapping[str, Metric]
) -> RateSearch | None:
    """Return what a sound scenario looks for; None where it measures at one load."""
    wanted = scenario.find
    if wanted is None:
        return None
    objectives = tuple(objective(text, metrics, scenario.kind_labels) for text in wanted.objectives)
    about_errors = any(metrics[objective.metric].measurand in FAILURES for objective in objectives)
    starts = ((label, _own_rate(loaders[label])) for label in scenario.loaders)
    return RateSearch(
        lowest=float(wanted.rate[0]),
        highest=float(wanted.rate[1]),
        steps=wanted.steps,
        first_rates={label: rate for label, rate in starts if rate is not None},
        objectives=objectives,
        errors_below=None if about_errors else ERRORS_BELOW,
    )


def finds_of(suite: Suite) -> dict[str, RateSearch]:
    """Return what each scenario that searches for a rate looks for, by label."""
    finds = {
        label: find_of(scenario, suite.loaders, suite.metrics)
        for label, scenario in suite.scenarios.items()
    }
    return {label: find for label, find in finds.items() if find is not None}


def rated(driver: Driver, rate: float, block: int) -> Driver:
    """Return a load at a rate; each block has its own random arrivals, as users would."""
    update: dict[str, object] = {_RATE: Rate(rate)}
    seed = getattr(driver, "seed", None)
    if isinstance(seed, int):
        update["seed"] = seed + block - 1
    return driver.model_copy(update=update)


def find_faults(
    top: Path, scenario: Scenario, parts: Parts, labels: Collection[str]
) -> Iterator[Fault]:
    """Yield the faults of a scenario's search; `parts` are sound, `labels` those of all metrics."""
    wanted = scenario.find
    if wanted is None:
        return
    lowest, highest = wanted.rate
    if not lowest:
        hint = 'such as rate = [100, "20k"]'
        yield Fault((*top, "find", _RATE, 0), "a search begins above 0", hint)
    elif lowest >= highest:
        message = f"{lowest}/s is not below {highest}/s"
        yield Fault((*top, "find", _RATE), message, "write the lowest first, then the highest")
    metrics = metrics_of(parts["metrics"])
    yield from _objective_faults((*top, "find", "slo"), wanted, scenario, metrics, labels)
    for subpath, path in scenario.varied_paths():
        varied = axis(path)
        if varied is not None and (varied.place, varied.option) == ("loaders", (_RATE,)):
            hint = "leave it out here, or give that a scenario without find"
            yield Fault((*top, *subpath), "the rate varies, and is searched for as well", hint)
    if scenario.clients:
        hint = "a client waits for each answer: name a load tool instead"
        yield Fault((*top, "clients"), "a client has no rate to search for", hint)
    for number, loader in enumerate(scenario.loaders):
        if loader in parts["loaders"]:
            key_path: Path = (*top, "loaders", number)
            yield from _loader_faults(key_path, parts["loaders"][loader], wanted)


def repeat_faults(
    scenarios: Mapping[str, Scenario],
    chosen: Collection[str],
    repeat: Repeat,
    keys: Collection[str],
) -> Iterator[Fault]:
    """Yield the `keys` of [repeat] that searches do not have, or not beside others."""
    if scenarios and all(value.find for value in scenarios.values()):
        for key in sorted(_COUNTS.intersection(keys)):
            message = "every scenario searches for a rate, so it has no effect"
            hint = "leave it out; find.steps sets the number of trials of a search"
            yield Fault(("repeat", key), message, hint)
    finds = [label for label in chosen if label in scenarios and scenarios[label].find]
    if repeat.until is not None and 0 < len(finds) < len(chosen):
        hint = "run it alone with --only, or set repeat.blocks instead of repeat.until"
        yield Fault(("scenarios", finds[0], "find"), "cannot be combined with repeat.until", hint)
    for label, scenario in scenarios.items():
        path, hint = ("scenarios", label, "blocks"), "leave `blocks` of the scenario out"
        if scenario.blocks and scenario.find:
            yield Fault(path, "cannot be combined with `find`, whose `steps` are trials", hint)
        elif scenario.blocks and repeat.until and not scenario.latency_of and label in chosen:
            yield Fault(path, "cannot be combined with repeat.until", hint)


def _objective_faults(
    path: Path,
    wanted: Wanted,
    scenario: Scenario,
    metrics: Mapping[str, Metric],
    labels: Collection[str],
) -> Iterator[Fault]:
    if not wanted.objectives:
        yield Fault(path, "an objective is missing", 'such as slo = "latency p99 < 50ms"')
    objectives: set[str] = set()
    for number, text in enumerate(wanted.objectives):
        objective_path = path if isinstance(wanted.slo, str) else (*path, number)
        try:
            canonical = objective(text, metrics, scenario.kind_labels).text
        except NoBound as error:
            faulty = set(labels) - metrics.keys()  # these have a fault already
            if text.split(" ", 1)[0] not in faulty:
                yield Fault(objective_path, error.message, error.hint)
            continue
        if canonical in objectives:
            yield Fault(objective_path, f"{canonical!r} is listed twice", "leave one out")
        objectives.add(canonical)


def _loader_faults(path: Path, declared: Declared, wanted: Wanted) -> Iterator[Fault]:
    if not isinstance(declared.part, Loader):
        return
    takes = _RATE in declared.cls.model_fields
    if not takes or not declared.part.tells_lateness:
        reason = "does not tell its lateness" if takes else "takes no rate"
        message = f"{declared.label} ({declared.part.name}) {reason}: it cannot search for one"
        hint = 'use = "pace": a search must know whether the server or the tool missed a rate'
        yield Fault(path, message, hint)
        return
    lowest, highest = wanted.rate
    if not 0 < lowest < highest:
        return  # the bounds have a fault already
    rate = _own_rate(declared)
    if rate is not None and not lowest <= rate <= highest:
        message = f"begins at its own rate, {exact(rate)}/s: not in {lowest} to {highest}/s"
        hint = "leave its rate out, or declare another loader"
        yield Fault(path, f"{declared.label} {message}", hint)
    for number, bound_ in enumerate(wanted.rate):
        try:
            typed(declared.cls, {**declared.options, _RATE: float(bound_)})
        except ValidationError as error:
            for fault in findings(error, dict(declared.options)):
                message = f"{declared.label}: {fault.message}"
                yield Fault((*path[:2], "find", _RATE, number), message)


def _own_rate(declaration: Declared) -> float | None:
    """Return the rate that the suite gives a loader: there its search begins."""
    rate = getattr(declaration.part, _RATE, None)
    return float(rate) if _RATE in declaration.options and isinstance(rate, int | float) else None


def objective(text: str, metrics: Mapping[str, Metric], kinds: Collection[str] = ()) -> Objective:
    """Return an objective such as "latency p99 < 50ms", of a kind "latency p99 browse < 50ms".

    Raises NoBound.
    """
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise NoBound(f"not an objective: {text!r}", _FORM)
    label, part_ = match["metric"], match["of"]
    if label not in metrics:
        near = nearest(label, sorted(metrics), "declared")
        raise NoBound(f"no metric {label!r} is declared", near)
    metric = metrics[label]
    parts = metric.parts()
    kind: str | None = None
    if part_ is not None and part_ not in parts:
        words, _, last = part_.rpartition(" ")
        if last in kinds:  # the kind is the last of the words behind a metric
            part_, kind = words.strip() or None, last
    if kind is not None and not metric.of_kinds:
        raise NoBound(f"{label!r} is of all kinds together", "leave the kind out")
    if parts and part_ not in parts and not (part_ is None and len(parts) == 1):
        choices = [*(part for part in parts if part), *kinds]
        problem = f"{label} has no {part_!r}" if part_ else f"{label} has several parts"
        raise NoBound(problem, nearest(part_ or "", choices, "it has"))
    fit = _RELATIONS[metric.better]
    relation: Relation | None = next((each for each in fit if each == match["relation"]), None)
    if relation is None:
        better = f"{metric.better} values of {label} are the better ones"
        hint = f"{better}: write {conjoined(fit, 'or')}"
        raise NoBound(f"even the worst server keeps this objective: {text!r}", hint)
    try:
        least = bound(match["bound"], metric.unit)
    except NoBound as error:
        raise NoBound(f"{label}: {error.message}", error.hint) from None
    if least < 0:
        raise NoBound(f"{label} is never below 0: {text!r}", _FORM)
    text = " ".join(text.split())
    return Objective(text=text, metric=label, of=part_, kind=kind, relation=relation, bound=least)
