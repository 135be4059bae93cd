"""A scenario's search for a rate: what it looks for, and what is wrong with it."""

from collections.abc import Collection, Iterator, Mapping

from pydantic import ValidationError

from benchforge.model.suite.search import ERRORS_BELOW, RateSearch
from benchforge.model.values.measurand import FAILURES
from benchforge.model.values.units import Rate
from benchforge.parts.part import Driver, Loader, Metric
from benchforge.suite.declared import metrics as metrics_of
from benchforge.suite.matrix.axis import axis
from benchforge.suite.scenarios.objective import WrongObjective, objective
from benchforge.suite.suite import Declared, Repeat, Scenario, Suite, Wanted
from benchforge.suite.toml.faults import Fault
from benchforge.suite.toml.models import findings, typed
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import exact

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
    about_errors = any(metrics[one.metric].measurand in FAILURES for one in objectives)
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
    """Return a load at a rate, with random arrivals of its own in each block.

    With the same arrivals again, trials would agree more than the server's users do.
    """
    update: dict[str, object] = {_RATE: Rate(rate)}
    seed = getattr(driver, "seed", None)
    if isinstance(seed, int):
        update["seed"] = seed + block - 1
    return driver.model_copy(update=update)


def find_faults(
    top: Path,
    scenario: Scenario,
    parts: Mapping[str, Mapping[str, Declared]],
    labels: Collection[str],
) -> Iterator[Fault]:
    """Yield what is wrong with a scenario's search.

    `parts` are the sound ones of the suite: others have a fault already. `labels` are those of all
    metrics.
    """
    wanted = scenario.find
    if wanted is None:
        return
    yield from _bound_faults((*top, "find", _RATE), wanted)
    metrics = metrics_of(parts["metrics"])
    yield from _objective_faults((*top, "find", "slo"), scenario, metrics, labels)
    for place, path in scenario.varied_paths():
        varied = axis(path)
        if varied is not None and (varied.place, varied.option) == ("loaders", (_RATE,)):
            hint = "leave it out here, or give that a scenario without find"
            yield Fault((*top, *place), "the rate varies, and is searched for as well", hint)
    if scenario.clients:
        hint = "a client waits for each answer: name a load tool instead"
        yield Fault((*top, "clients"), "a client has no rate to search for", hint)
    for number, loader in enumerate(scenario.loaders):
        if loader in parts["loaders"]:
            at: Path = (*top, "loaders", number)
            yield from _loader_faults(at, parts["loaders"][loader], wanted)


def repeat_faults(
    scenarios: Mapping[str, Scenario],
    chosen: Collection[str],
    repeat: Repeat,
    written: Collection[str],
) -> Iterator[Fault]:
    """Yield keys that are `written`, and that searches do not have, or not beside others."""
    yield from _count_faults(scenarios, written)
    yield from _mixture_faults(scenarios, chosen, repeat)
    for label, scenario in scenarios.items():
        place, hint = ("scenarios", label, "blocks"), "leave `blocks` of the scenario out"
        if scenario.blocks and scenario.find:
            yield Fault(place, "cannot be combined with `find`, whose `steps` are trials", hint)
        elif scenario.blocks and repeat.until is not None and label in chosen:
            yield Fault(place, "cannot be combined with repeat.until", hint)


def _count_faults(scenarios: Mapping[str, Scenario], written: Collection[str]) -> Iterator[Fault]:
    """Yield what counts trials where every scenario is a search, and counts them itself."""
    if not scenarios or not all(one.find for one in scenarios.values()):
        return
    for key in sorted(_COUNTS.intersection(written)):
        hint = "leave it out; find.steps sets the number of trials of a search"
        yield Fault(
            ("repeat", key), "every scenario searches for a rate, so it has no effect", hint
        )


def _mixture_faults(
    scenarios: Mapping[str, Scenario], chosen: Collection[str], repeat: Repeat
) -> Iterator[Fault]:
    """Yield a fault where searches stand in a run that ends once its intervals are narrow."""
    finds = [label for label in chosen if label in scenarios and scenarios[label].find]
    if repeat.until is None or not finds or len(finds) == len(chosen):
        return
    hint = "run it alone with --only, or set repeat.blocks instead of repeat.until"
    yield Fault(("scenarios", finds[0], "find"), "cannot be combined with repeat.until", hint)


def _bound_faults(at: Path, wanted: Wanted) -> Iterator[Fault]:
    lowest, highest = wanted.rate
    if not lowest:
        yield Fault((*at, 0), "a search begins above 0", 'such as rate = [100, "20k"]')
    elif lowest >= highest:
        message = f"{lowest}/s is not below {highest}/s"
        yield Fault(at, message, "write the lowest first, then the highest")


def _objective_faults(
    at: Path, scenario: Scenario, metrics: Mapping[str, Metric], labels: Collection[str]
) -> Iterator[Fault]:
    wanted = scenario.find
    if wanted is None:
        return
    if not wanted.objectives:
        yield Fault(at, "an objective is missing", 'such as slo = "latency p99 < 50ms"')
    seen: set[str] = set()
    for number, text in enumerate(wanted.objectives):
        place = at if isinstance(wanted.slo, str) else (*at, number)
        try:
            canonical = objective(text, metrics, scenario.kind_labels).text
        except WrongObjective as error:
            faulty = set(labels) - metrics.keys()  # these have a fault already
            if text.split(" ", 1)[0] not in faulty:
                yield Fault(place, error.message, error.hint)
            continue
        if canonical in seen:
            yield Fault(place, f"{canonical!r} is listed twice", "leave one out")
        seen.add(canonical)


def _loader_faults(at: Path, declaration: Declared, wanted: Wanted) -> Iterator[Fault]:
    if not isinstance(declaration.part, Loader):
        return
    takes = _RATE in declaration.cls.model_fields
    if not takes or not declaration.part.tells_lateness:
        why = "does not tell its lateness" if takes else "takes no rate"
        message = f"{declaration.label} ({declaration.part.name}) {why}: it cannot search for one"
        hint = 'use = "pace": a search must know whether the server or the tool missed a rate'
        yield Fault(at, message, hint)
        return
    lowest, highest = wanted.rate
    if not 0 < lowest < highest:
        return  # the bounds have a fault already
    own = _own_rate(declaration)
    if own is not None and not lowest <= own <= highest:
        message = (
            f"{declaration.label} begins at its own rate, {exact(own)}/s: not in "
            f"{lowest} to {highest}/s"
        )
        yield Fault(at, message, "leave its rate out, or declare another loader")
    for number, why in _refused(declaration, wanted):
        yield Fault((*at[:2], "find", _RATE, number), f"{declaration.label}: {why}")


def _refused(declaration: Declared, wanted: Wanted) -> Iterator[tuple[int, str]]:
    """Yield which of the bounds a loader cannot make, and why."""
    for number, rate in enumerate(wanted.rate):
        try:
            typed(declaration.cls, {**declaration.options, _RATE: float(rate)})
        except ValidationError as error:
            yield from (
                (number, fault.message) for fault in findings(error, dict(declaration.options))
            )


def _own_rate(declaration: Declared) -> float | None:
    """Return the rate that the suite gives a loader: there its search begins."""
    rate = getattr(declaration.part, _RATE, None)
    return float(rate) if _RATE in declaration.options and isinstance(rate, int | float) else None
