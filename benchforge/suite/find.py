"""A scenario's search for a rate: what it looks for, and what is wrong with it."""

from collections.abc import Collection, Iterator, Mapping

from pydantic import JsonValue, ValidationError

from benchforge.model.find import ERRORS_BELOW, Find
from benchforge.model.units import Rate
from benchforge.parts.part import Driver, Loader, Metric
from benchforge.suite.axis import axis
from benchforge.suite.complaints import Complaints
from benchforge.suite.declared import metrics as metrics_of
from benchforge.suite.objective import WrongObjective, objective
from benchforge.suite.positions import Path
from benchforge.suite.suite import Declared, Repeat, Scenario, Suite, Wanted
from benchforge.suite.typed import typed
from benchforge.suite.words import findings

_ABOUT_ERRORS = {"errors", "error_rate"}
_RATE = "rate"
_COUNTS = {"blocks", "until", "between", "placebo"}
"Keys of [repeat] that say how often a case is measured."


def find_of(
    scenario: Scenario, loaders: Mapping[str, Declared], metrics: Mapping[str, Metric]
) -> Find | None:
    """Return what a sound scenario looks for; None where it measures at one load."""
    wanted = scenario.find
    if wanted is None:
        return None
    objectives = tuple(objective(text, metrics) for text in wanted.objectives)
    about_errors = any(metrics[one.metric].name in _ABOUT_ERRORS for one in objectives)
    starts = ((label, _own_rate(loaders[label])) for label in scenario.loaders)
    return Find(
        lowest=float(wanted.rate[0]),
        highest=float(wanted.rate[1]),
        steps=wanted.steps,
        starts={label: rate for label, rate in starts if rate is not None},
        objectives=objectives,
        errors_below=None if about_errors else ERRORS_BELOW,
    )


def finds_of(suite: Suite) -> dict[str, Find]:
    """Return what each scenario that searches for a rate looks for, by label."""
    found = {
        label: find_of(one, suite.loaders, suite.metrics) for label, one in suite.scenarios.items()
    }
    return {label: find for label, find in found.items() if find is not None}


def rated(driver: Driver, rate: float, block: int) -> Driver:
    """Return a load at a rate, with random arrivals of its own in each block.

    With the same arrivals again, trials would agree more than the server's users do.
    """
    update: dict[str, object] = {_RATE: Rate(rate)}
    seed = getattr(driver, "seed", None)
    if isinstance(seed, int):
        update["seed"] = seed + block - 1
    return driver.model_copy(update=update)


def check_find(
    label: str,
    scenario: Scenario,
    parts: Mapping[str, Mapping[str, Declared]],
    labels: Collection[str],
    complaints: Complaints,
) -> None:
    """Complain of what is wrong with a scenario's search.

    `parts` are the sound ones of the suite: of others there is a complaint already. `labels` are
    those of all metrics.
    """
    wanted = scenario.find
    if wanted is None:
        return
    top: Path = ("scenarios", label)
    in_order = _check_bounds((*top, "find", _RATE), wanted, complaints)
    metrics = metrics_of(parts["metrics"])
    _check_objectives((*top, "find", "slo"), wanted, metrics, labels, complaints)
    _check_varied(top, scenario, complaints)
    if scenario.clients:
        hint = "a client library asks again when it was answered: name a load tool in its place"
        complaints.at((*top, "clients"), "a client has no rate to search for", hint)
    for number, one in enumerate(scenario.loaders):
        if one in parts["loaders"]:
            at: Path = (*top, "loaders", number)
            _check_loader(at, parts["loaders"][one], wanted, complaints, in_order=in_order)


def check_repeat(
    scenarios: Mapping[str, Scenario], repeat: JsonValue, complaints: Complaints
) -> None:
    """Complain of what counts trials where every scenario is a search, and counts them itself."""
    if not scenarios or not all(one.find for one in scenarios.values()):
        return
    for key in repeat.keys() & _COUNTS if isinstance(repeat, dict) else ():
        hint = "leave it out; how many trials a search takes is for find.steps to say"
        complaints.at(
            ("repeat", key), "every scenario searches for a rate: it counts nothing", hint
        )


def check_apart(
    scenarios: Mapping[str, Scenario],
    chosen: Collection[str],
    repeat: Repeat,
    complaints: Complaints,
) -> None:
    """Complain of searches in a run that ends when its intervals are narrow: none of theirs is."""
    finds = [label for label in chosen if label in scenarios and scenarios[label].find]
    if repeat.until is None or not finds or len(finds) == len(chosen):
        return
    hint = "run it alone with --only, or give repeat.blocks in place of repeat.until"
    complaints.at(("scenarios", finds[0], "find"), "stands beside repeat.until", hint)


def _check_bounds(at: Path, wanted: Wanted, complaints: Complaints) -> bool:
    lowest, highest = wanted.rate
    if not lowest:
        complaints.at((*at, 0), "a search begins above 0", 'such as rate = [100, "20k"]')
    elif lowest >= highest:
        message = f"no rates from {lowest}/s to {highest}/s"
        complaints.at(at, message, "write the lowest first, then the highest")
    return 0 < lowest < highest


def _check_objectives(
    at: Path,
    wanted: Wanted,
    metrics: Mapping[str, Metric],
    labels: Collection[str],
    complaints: Complaints,
) -> None:
    if not wanted.objectives:
        complaints.at(at, "nothing is to be kept", 'such as slo = "latency p99 < 50ms"')
    seen: set[str] = set()
    for number, text in enumerate(wanted.objectives):
        place = at if isinstance(wanted.slo, str) else (*at, number)
        try:
            told = objective(text, metrics).text
        except WrongObjective as error:
            faulty = set(labels) - metrics.keys()  # of these there is a complaint already
            if text.split(" ", 1)[0] not in faulty:
                complaints.at(place, error.message, error.hint)
            continue
        if told in seen:
            complaints.at(place, f"{told!r} stands here twice", "leave one out")
        seen.add(told)


def _check_varied(top: Path, scenario: Scenario, complaints: Complaints) -> None:
    written: list[tuple[Path, str]] = [((*top, "vary", path), path) for path in scenario.vary]
    written += [
        ((*top, "include", number, path), path)
        for number, point in enumerate(scenario.include)
        for path in point
    ]
    for at, path in written:
        found = axis(path)
        if found is not None and (found.place, found.option) == ("loaders", (_RATE,)):
            hint = "leave it out here, or give that a scenario without find"
            complaints.at(at, "the rate varies, and is searched for as well", hint)


def _check_loader(
    at: Path, one: Declared, wanted: Wanted, complaints: Complaints, *, in_order: bool
) -> None:
    if not isinstance(one.part, Loader):
        return
    takes = _RATE in one.cls.model_fields
    if not takes or not one.part.tells_lateness:
        why = "does not tell its lateness" if takes else "takes no rate"
        message = f"{one.label} ({one.part.name}) {why}: it cannot search for one"
        hint = 'use = "pace": whether the server or the tool missed a rate must be known'
        complaints.at(at, message, hint)
        return
    if not in_order:
        return
    lowest, highest = wanted.rate
    own = _own_rate(one)
    if own is not None and not lowest <= own <= highest:
        message = f"{one.label} begins at its own rate, {own:g}/s: not in {lowest} to {highest}/s"
        complaints.at(at, message, "leave its rate out, or declare another loader")
    for number, why in _refused(one, wanted):
        complaints.at((*at[:2], "find", _RATE, number), f"{one.label}: {why}")


def _refused(one: Declared, wanted: Wanted) -> Iterator[tuple[int, str]]:
    """Yield which of the bounds a loader cannot make, and why."""
    for number, rate in enumerate(wanted.rate):
        try:
            typed(one.cls, {**one.options, _RATE: float(rate)})
        except ValidationError as error:
            yield from ((number, found.message) for found in findings(error, dict(one.options)))


def _own_rate(one: Declared) -> float | None:
    """Return the rate that the suite gives a loader: there its search begins."""
    rate = getattr(one.part, _RATE, None)
    return float(rate) if _RATE in one.options and isinstance(rate, int | float) else None
