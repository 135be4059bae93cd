"""Scenarios that measure the response times of another one's servers, at one rate."""

from collections.abc import Iterator, Mapping

from benchforge.parts.part import Driver
from benchforge.suite.scenarios.turns import turns_of
from benchforge.suite.suite import Declared, Repeat, Scenario, Suite
from benchforge.suite.toml.faults import Fault, Nearest
from benchforge.text.readable import conjoined


def latency_faults(
    scenarios: Mapping[str, Scenario], parts: Mapping[str, Mapping[str, Declared]], repeat: Repeat
) -> Iterator[Fault]:
    """Yield what is wrong with each `latency_of`; `parts` are the sound ones."""
    for label, scenario in scenarios.items():
        if scenario.latency_of is None:
            continue
        path = ("scenarios", label, "latency_of")
        others = {k: it for k, it in scenarios.items() if k != label and not it.latency_of}
        measured = others.get(scenario.latency_of)
        if measured is None:
            near = Nearest(scenario.latency_of, others, "other scenarios")
            yield Fault(path, f"no other scenario {scenario.latency_of!r} is compared", near)
        elif {*measured.servers} != {*scenario.servers}:
            yield Fault(path, f"{scenario.latency_of!r} has other servers", "name the same servers")
        if turns_of(scenario, repeat) is not None:
            hint = 'set interleave = "off" in this scenario'
            yield Fault(path, "response times are those of one server at a time", hint)
        loaders = [parts["loaders"][k] for k in scenario.loaders if k in parts["loaders"]]
        if scenario.clients or len(scenario.loaders) != 1 or not all(map(_rate, loaders)):
            hint = 'name one, such as use = "pace", rate = "500/s"'
            yield Fault(path, "it takes one load tool with a rate", hint)


def unlike_loads(suite: Suite) -> Iterator[str]:
    """Yield a line for each scenario that compares response times of servers at unlike rates."""
    claimed = {
        instance.a.case.scenario
        for claim in suite.claims_to_test
        for instance in claim.instances
        if instance.b is not None and _is_time(suite, claim.metric)
    }
    for label, scenario in suite.scenarios.items():
        first = next(iter(scenario.metrics or suite.metrics), "")
        if scenario.find or not (label in claimed or _is_time(suite, first)):
            continue
        closed = [k for k in scenario.loaders if _rate(suite.loaders[k]) is None]
        if closed and len(scenario.servers) > 1:
            loads = f"with {conjoined(closed)} each server receives requests as fast as it answers"
            says = f"compares response times at unlike loads: {loads}"
            yield f"{label}: {says}; set a rate, such as 500/s"


def _is_time(suite: Suite, metric: str) -> bool:
    return metric in suite.metrics and suite.metrics[metric].measurand == "response time"


def _rate(declaration: Declared) -> float | None:
    return declaration.part.load().rate if isinstance(declaration.part, Driver) else None
