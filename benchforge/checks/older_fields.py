"""Fields that an older benchforge did not write: its readers knew checks and metrics by heart."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from benchforge.checks.limits import limits
from benchforge.errors import Unusable
from benchforge.model.files.folder import read_trials
from benchforge.model.summary.summary import MetricSummary
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.model.values.frozen import Frozen
from benchforge.parts.part import Metric
from benchforge.registry import Registry

Model = TypeVar("Model", bound=Frozen)


def kept_trials(folder: Path) -> tuple[Trial, ...]:
    """Read all trials of a result. Raises as `read_trials` does."""
    return tuple(map(completed, read_trials(folder)))


def completed(model: Model, registry: Registry | None = None) -> Model:
    """Return a model in which each check has its topic and each metric its measurand."""
    return model.model_copy(update=dict(_fields(model, registry)))


def _fields(model: Frozen, registry: Registry | None) -> Mapping[str, Any]:
    match model:
        case Check():
            by_id = limits().by_id  # N3 of a disk has the topic of N3.io
            limit = by_id.get(f"{model.id}.{model.component}") or by_id.get(model.id)
            return {} if model.topic or limit is None else {"topic": limit.topic}
        case MetricSummary():
            metric = None if model.measurand or registry is None else _metric(model.use, registry)
            if metric is None:
                return {}
            return {"measurand": metric.measurand, "percentile": metric.percentile_of(model.of)}
    nested = ((name, field) for name, field in model if isinstance(field, Frozen | tuple))
    return {name: _nested(field, registry) for name, field in nested}


def _nested(value: object, registry: Registry | None) -> object:
    if type(value) is tuple:
        return tuple(_nested(member, registry) for member in value)
    return completed(value, registry) if isinstance(value, Frozen) else value


def _metric(name: str, registry: Registry) -> type[Metric] | None:
    try:
        part = registry.part("metric", name)
    except Unusable:  # a summary is read without the parts that it names
        return None
    return part if issubclass(part, Metric) else None
