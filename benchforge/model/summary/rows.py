"""The values of a summary as flat rows, one for each trial and metric: for files and programs."""

import json
from collections.abc import Iterator
from typing import Literal, NamedTuple

from benchforge.model.summary.doubts import doubted
from benchforge.model.summary.summary import Summary


class TrialValue(NamedTuple):
    """Value of a metric in a trial."""

    suite: str
    "Name of the suite."
    created: str
    "Start of the run, as ISO 8601 with its time zone."
    smoke: bool
    "True for a smoke run: its numbers mean nothing."
    case: str
    "Title of the case."
    scenario: str
    "Label of the scenario."
    server: str
    "Label of the server."
    driver: str
    "Label of the load tool or client."
    vary: str | None
    "Varied options as JSON; None without any."
    digest: str
    "Digest of the case's resolved options and code."
    metric: str
    "Label of the metric."
    of: str | None
    "Part of the metric, such as p99; None for the whole."
    unit: str
    "Unit of the value."
    better: Literal["higher", "lower"]
    "Better direction of the value."
    block: int
    "Number of the trial's block, from 1."
    trial: int
    "Number of the trial."
    value: float | None
    "Value; None if unknown."
    lower_bound: bool
    "True if the truth is the value or more."
    believed: bool | None
    "False if a check doubts the value; None if no check ran."
    why: str
    "Reason why the value is unknown."


def trial_values(summary: Summary) -> Iterator[TrialValue]:
    """Yield each value of each metric, in the order of the cases, metrics and trials."""
    of_run = summary.name, summary.created.isoformat(), summary.smoke
    for case in summary.cases:
        name, checked = case.case, case.believed is not None
        labels = (name.title, name.scenario, name.server, name.driver, vary_text(name.vary))
        for line in case.metrics:
            of_line = (*of_run, *labels, name.digest, line.metric, line.of)
            left_out = doubted(case, line)
            for item in line.samples:
                sample, believed = item.sample, item.trial not in left_out if checked else None
                yield TrialValue(
                    *(*of_line, sample.unit, line.better, item.block, item.trial),
                    *(sample.value, sample.lower_bound, believed, sample.why),
                )


def vary_text(vary: object) -> str | None:
    """Return varied options as JSON; None without any."""
    return json.dumps(vary, sort_keys=True) if vary else None
