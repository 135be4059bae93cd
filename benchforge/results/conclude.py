"""A result's summary, formed again from its files, or as it is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue, ValidationError

from benchforge.checks.limits import limits
from benchforge.checks.summary import concluded, with_comparison_verdicts
from benchforge.errors import InvalidFile, Unusable
from benchforge.model.files.file import parse_named
from benchforge.model.files.folder import (
    HEADER,
    accepted,
    read_ceilings,
    read_header,
    read_sessions,
    read_trials,
    refusal,
)
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Metric
from benchforge.parts.registry import Registry
from benchforge.results.validity.faults import faults


@dataclass(frozen=True)
class Summed:
    """A result, and what its trials say."""

    path: Path
    "Its folder, or the file of a summary."
    summary: Summary
    header: Header | None = None
    "Header of the result; None for a summary alone."
    trials: Sequence[Trial] = ()
    "Trials of the result; empty for a summary alone, and where only that is wanted."

    @property
    def planned(self) -> int:
        """How many measurements were planned."""
        placebos = [placebo.repeated for placebo in self.summary.placebos]
        return sum(case.planned for case in (*self.summary.cases, *placebos))

    def same(self, other: "Summed") -> bool:
        """Whether both are one result, wherever they stand: begun at one moment with one seed."""
        names = ("created", "seed", "name")
        return all(getattr(self.summary, key) == getattr(other.summary, key) for key in names)


def summed(path: Path, registry: Registry, *, with_trials: bool = False) -> Summed:
    """Read a result's folder or a summary file; the summary of a folder is formed anew.

    Its trials are forgotten but `with_trials`. Of the suite's parts its metrics alone have to be
    installed. Raises Unusable and InvalidFile.
    """
    if path.is_file():
        return _of_summary(path)
    header = read_header(path)
    trials = read_trials(path)
    metrics = installed_metrics(header, path, registry)
    summary = concluded(header, trials, metrics, read_sessions(path), read_ceilings(path))
    return Summed(path, summary, header, trials if with_trials else ())


def installed_metrics(header: Header, path: Path, registry: Registry) -> dict[str, Metric]:
    """Return a result's metrics, by label. Raises Unusable if missing, InvalidFile for options."""
    return {use.label: _metric(use.use, use.options, path, registry) for use in header.metrics}


def results_in(folder: Path) -> Iterator[Path]:
    """Yield the results that a folder holds, or the folder itself where it is one, by name."""
    if (folder / HEADER).is_file():
        yield folder
    elif folder.is_dir():
        yield from (child for child in sorted(folder.iterdir()) if (child / HEADER).is_file())


def _of_summary(path: Path) -> Summed:
    parsed = accepted(parse_named(path, Summary))
    if wrong := faults(path):
        raise refusal(wrong[0])
    summary = parsed.model
    if any(each.verdict is None for each in summary.comparisons):  # an older benchforge wrote it
        summary = with_comparison_verdicts(summary, limits())
    return Summed(path, summary)


def _metric(use: str, options: Mapping[str, JsonValue], path: Path, registry: Registry) -> Metric:
    part = registry.part("metric", use)
    # The header has every option. One that excludes others may stand beside their defaults there.
    defaults = part.model_construct().model_dump(mode="json", by_alias=True)
    others = {key: value for key, value in options.items() if (key, value) not in defaults.items()}
    try:
        metric = part.model_validate(others)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]["msg"]
        raise InvalidFile(f"{path / HEADER}: metric {use}: {first}") from None
    if not isinstance(metric, Metric):
        raise Unusable(f"{use} is not a metric")
    return metric
