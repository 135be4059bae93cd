"""What a result says, formed again from what is kept of it; or as its summary has it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from benchforge.checks.summary import concluded
from benchforge.errors import InvalidFile, Unusable
from benchforge.model.faults import faults
from benchforge.model.file import Parsed, parse
from benchforge.model.folder import (
    HEADER,
    read_ceilings,
    read_header,
    read_sittings,
    read_trials,
    refusal,
)
from benchforge.model.result import Header
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.parts.part import Metric
from benchforge.registry import Registry


@dataclass(frozen=True)
class Summed:
    """A result, and what its trials say."""

    path: Path
    "Its folder, or the file of a summary."
    summary: Summary
    header: Header | None = None
    "None of a summary alone."
    trials: Sequence[Trial] = ()
    "None of a summary alone."

    @property
    def planned(self) -> int:
        """How many measurements were planned."""
        placebos = [one.again for one in self.summary.placebos]
        return sum(case.planned for case in (*self.summary.cases, *placebos))

    def same(self, other: "Summed") -> bool:
        """Whether both are one result, wherever they stand: begun at one moment with one seed."""
        ours, theirs = self.summary, other.summary
        return (ours.created, ours.seed, ours.name) == (theirs.created, theirs.seed, theirs.name)


def summed(path: Path, registry: Registry) -> Summed:
    """Read a result's folder or a summary file; the summary of a folder is formed anew.

    Of the suite's parts its metrics alone have to be installed. Raises Unusable for what cannot be
    read, InvalidFile for what says what cannot be.
    """
    if path.is_file():
        return _of_summary(path)
    header = read_header(path)
    trials = read_trials(path)
    metrics = {one.label: _metric(one.use, one.options, path, registry) for one in header.metrics}
    summary = concluded(header, trials, metrics, read_sittings(path), read_ceilings(path))
    return Summed(path, summary, header, trials)


def results_in(folder: Path) -> Iterator[Path]:
    """Yield the results that a folder holds, or the folder itself where it is one, by name."""
    if (folder / HEADER).is_file():
        yield folder
    elif folder.is_dir():
        yield from (one for one in sorted(folder.iterdir()) if (one / HEADER).is_file())


def _of_summary(path: Path) -> Summed:
    found = parse(path, Summary)
    if not isinstance(found, Parsed):
        raise refusal(found[0])
    if wrong := faults(path):
        raise refusal(wrong[0])
    return Summed(path, found.model)


def _metric(use: str, options: object, path: Path, registry: Registry) -> Metric:
    part = registry.part("metric", use)
    try:
        metric = part.model_validate(options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]["msg"]
        raise InvalidFile(f"{path / HEADER}: metric {use}: {first}") from None
    if not isinstance(metric, Metric):
        raise Unusable(f"{use} is no metric")
    return metric
