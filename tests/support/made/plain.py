"""Each model of a result, built by hand: what a test does not give has a plain value."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from benchforge_metrics.errors import ErrorRate, Errors
from benchforge_metrics.latency import Latency
from benchforge_metrics.throughput import Throughput

from benchforge.model.files.result import Header, Planned
from benchforge.model.summary.summary import CaseSummary, MetricSummary, Summary, TrialSample
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.units import Measurand, percentile

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MEASURANDS: dict[str, Measurand] = {
    item.name: item.measurand for item in (Errors, ErrorRate, Latency, Throughput)
}


def named(server: str = "server", **changed: Any) -> CaseName:
    fields = {"scenario": "hello", "driver": "wrk", "vary": {}, "digest": server}
    return CaseName.model_validate(fields | {"server": server} | changed)


def reading(good: int = 100, **changed: Any) -> Reading:
    """Return a reading of a second whose responses were all good."""
    fields = {"seconds": 1, "responses": good, "good_at_least": good, "good_at_most": good}
    return Reading.model_validate(fields | {"errors": {}} | changed)


def usage(role: str = "server", **changed: Any) -> Usage:
    fields = {"label": role, "role": role, "cpu_s": None, "peak_pss_bytes": None}
    return Usage(**fields | changed)


def observation(*parts: Usage, **changed: Any) -> Observation:
    fields = {"seconds": 1, "network": "private", "counters": {}, "sampler_cpu_s": 0}
    return Observation.model_validate(fields | {"usage": parts} | changed)


def trial(**changed: Any) -> Trial:
    """Return a trial of which nothing is known."""
    fields: dict[str, Any] = {"number": 1, "block": 1, "position": 1, "seed": 1, "started": NOON}
    fields |= {"seconds": 20, "phases": {}, "request": Request(), "processes": (), "answers": ()}
    fields |= {"namespaces": {}, "reading": None, "observation": None}
    return Trial.model_validate(fields | {"case": changed.pop("case", None) or named()} | changed)


def planned(cases: Sequence[CaseName], blocks: int) -> tuple[Planned, ...]:
    """Return the plan of so many blocks, in each of which the cases have this order."""
    return tuple(
        Planned(block=block, position=position, case=case, seed=1, declared_s=1)
        for block in range(1, blocks + 1)
        for position, case in enumerate(cases, 1)
    )


def header(*cases: CaseName, blocks: int = 0, **changed: Any) -> Header:
    fields: dict[str, Any] = {"name": "hello", "title": "", "created": NOON, "benchforge": "0.1.0"}
    fields |= {"profile": None, "smoke": False, "settings": {}, "only": (), "suite": ""}
    fields |= {"suite_sha256": "", "seed": 7, "cases": cases, "plan": planned(cases, blocks)}
    fields |= {"metrics": (), "versions": {}, "facts": {}}
    return Header.model_validate(fields | changed)


def samples(by_block: Mapping[int, Sample]) -> tuple[TrialSample, ...]:
    """Return the samples of blocks whose trials have their numbers."""
    return tuple(
        TrialSample(trial=block, block=block, sample=sample) for block, sample in by_block.items()
    )


def line(metric: str, unit: str, **changed: Any) -> MetricSummary:
    """Return one line of a case, without a value."""
    label, use = changed.get("of"), changed.get("use", metric)
    fields: dict[str, Any] = {"metric": metric, "use": metric, "unit": unit, "better": "higher"}
    fields |= dict.fromkeys(("of", "estimator", "median", "lowest", "highest"))
    fields |= {"measurand": MEASURANDS.get(use, ""), "percentile": percentile(label), "samples": ()}
    return MetricSummary.model_validate(fields | changed)


def case(name: CaseName, *lines: MetricSummary, trials: int = 3, **changed: Any) -> CaseSummary:
    fields: dict[str, Any] = {"trials": trials, "planned": trials, "failed": (), "notes": ()}
    return CaseSummary.model_validate(fields | {"case": name, "metrics": lines} | changed)


def summary(*cases: CaseSummary, **changed: Any) -> Summary:
    fields: dict[str, Any] = {"name": "hello", "title": "", "created": NOON, "benchforge": "0.1.0"}
    fields |= {"profile": None, "seed": 7, "smoke": False, "complete": True, "cases": cases}
    fields |= {"versions": {}, "facts": {}}
    return Summary.model_validate(fields | changed)
