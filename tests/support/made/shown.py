"""Summaries as people read them: servers with a few values of each metric."""

from typing import Any

from made import plain

from benchforge.model.summary.summary import CaseSummary, MetricSummary, Summary
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Failure, StartedProcess, Trial


def line(
    metric: str,
    unit: str,
    *values: float,
    label: str | None = None,
    use: str | None = None,
    at_least: bool = False,
    text: str = "",
) -> MetricSummary:
    """Return a line with a value a block; `why` is why none of them is known."""
    ordered = sorted(values)
    same: dict[str, Any] = {"metric": metric, "unit": unit, "of": label, "why": text}
    samples = {
        block: Sample(
            value=None if text else value, lower_bound=at_least and value == ordered[-1], **same
        )
        for block, value in enumerate(values, 1)
    }
    spread: dict[str, Any] = {}
    if not text:
        spread = {"lowest": ordered[0], "highest": ordered[-1]}
        spread["median"] = ordered[len(ordered) // 2]
    spread |= {"use": use or metric, "of": label, "lower_bound": at_least, "why": text}
    return plain.line(metric, unit, samples=plain.samples(samples), **spread)


def case(server: str, *lines: MetricSummary, **changed: Any) -> CaseSummary:
    """Return a case of three planned trials; `vary` is what its name says."""
    name = plain.named(server, vary=changed.pop("vary", {}))
    return plain.case(name, *lines, **{"planned": 3} | changed)


def result(*cases: CaseSummary, smoke: bool = False, title: str = "Hello, world") -> Summary:
    actual = {"versions": {"wrk": "4.1.0"}, "facts": {"cpus": 2}}
    return plain.summary(*cases, smoke=smoke, title=title, **actual)


def trial(number: int = 1, *processes: StartedProcess) -> Trial:
    """Return a trial whose server did not start."""
    failure = Failure(stage="start", message="it died")
    fields = {"number": number, "block": number, "seconds": 3, "case": plain.named("wsgiref")}
    return plain.trial(processes=processes, failure=failure, **fields)
