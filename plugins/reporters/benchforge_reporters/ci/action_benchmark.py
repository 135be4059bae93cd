"""What github-action-benchmark draws over commits: its tools customBiggerIsBetter and the other.

It reads a list of objects: name, unit, value (a number), range and extra (texts). One file holds
one direction. It fails on an empty list, so a file without a number is not written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import JsonValue

from benchforge.plugin import (
    CaseSummary,
    MetricSummary,
    Part,
    Reporter,
    Summary,
    Trial,
    doubted,
    hookimpl,
    readable,
    safe,
)

FILES: Final[Mapping[Literal["higher", "lower"], str]] = {
    "higher": "action-benchmark-bigger.json",
    "lower": "action-benchmark-smaller.json",
}


class ActionBenchmark(Reporter):
    """Medians for github-action-benchmark, in two files: higher is better, and lower is better."""

    name: ClassVar[str] = "action-benchmark"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write each direction that has a number; of a smoke nothing, since no number counts."""
        written = []
        for better, name in FILES.items():
            if rows := list(entries(summary, better)):
                written.append(folder / name)
                text = json.dumps(rows, indent=1, allow_nan=False)
                written[-1].write_text(f"{text}\n", encoding="utf-8")
        return written


def entries(summary: Summary, better: Literal["higher", "lower"]) -> Iterator[dict[str, JsonValue]]:
    """Yield the medians of one direction; those not known or not believed are left out."""
    for case in () if summary.smoke else summary.cases:
        if not case.trials or (case.believed is not None and case.believed < case.trials):
            continue
        for line in case.metrics:
            if doubted(case, line):
                continue
            if line.better == better and line.median is not None and not line.lower_bound:
                trials = readable.counted(len(line.samples), "trial")
                yield {
                    "name": safe.line(_name(case, line)),
                    "unit": line.unit,
                    "value": line.median,
                    "range": f"{line.lowest:.6g} to {line.highest:.6g}",
                    "extra": f"median of {trials}\nmeasured {summary.created.isoformat()}",
                }


def _name(case: CaseSummary, line: MetricSummary) -> str:
    return f"{case.case.title} · {line.metric}{f' {line.of}' if line.of else ''}"


@hookimpl
def benchforge_parts() -> Iterable[type[Part]]:
    """Bring the files for github-action-benchmark."""
    return [ActionBenchmark]
