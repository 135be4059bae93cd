"""numbers.json: every number of a result in one flat list, for other programs."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Final

from pydantic import JsonValue

from benchforge.plugin import CaseSummary, MetricSummary, Reporter, Summary, Trial, doubted

FILE: Final = "numbers.json"
NAMES: Final = (
    *("suite", "created", "smoke", "case", "scenario", "server", "driver", "vary", "digest"),
    *("metric", "of", "unit", "better", "block", "trial", "value", "lower_bound", "believed"),
    "why",
)
"Of what a row tells."


class Json(Reporter):
    """Every trial's value of every metric in one flat list: numbers.json."""

    name: ClassVar[str] = "json"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write numbers.json: a row a line, so that it is read by people too."""
        rows = (json.dumps(row, allow_nan=False) for row in numbers(summary))
        text = ",\n ".join(rows)
        (folder / FILE).write_text(f"[{text}]\n", encoding="utf-8")
        return (folder / FILE,)


def numbers(summary: Summary) -> Iterator[dict[str, JsonValue]]:
    """Yield a row for each value; `believed` is null where no check was asked."""
    for named, rows in numbers_of_lines(summary):
        yield from ({**named, **row} for row in rows)


def numbers_of_lines(
    summary: Summary,
) -> Iterator[tuple[dict[str, JsonValue], Iterator[dict[str, JsonValue]]]]:
    """Yield what the rows of a case's metric have in common, and what each has of its own."""
    for case in summary.cases:
        named, looked = _named(summary, case), case.believed is not None
        for line in case.metrics:
            yield {**named, "metric": line.metric, "of": line.of}, _rows(case, line, looked=looked)


def _rows(
    case: CaseSummary, line: MetricSummary, *, looked: bool
) -> Iterator[dict[str, JsonValue]]:
    left_out = doubted(case, line)
    for trial_sample in line.samples:
        yield {
            "unit": trial_sample.sample.unit,
            "better": line.better,
            "block": trial_sample.block,
            "trial": trial_sample.trial,
            "value": trial_sample.sample.value,
            "lower_bound": trial_sample.sample.lower_bound,
            "believed": trial_sample.trial not in left_out if looked else None,
            "why": trial_sample.sample.why,
        }


def _named(summary: Summary, case: CaseSummary) -> dict[str, JsonValue]:
    name = case.case
    return {
        "suite": summary.name,
        "created": summary.created.isoformat(),
        "smoke": summary.smoke,
        "case": name.title,
        "scenario": name.scenario,
        "server": name.server,
        "driver": name.driver,
        "vary": json.dumps(name.vary, sort_keys=True) if name.vary else None,
        "digest": name.digest,
    }
