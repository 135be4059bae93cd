"""Where the time of a block goes, by stage of its trials."""

import statistics
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from benchforge.plugin import Trial, readable

_STAGES = {
    "wait for quiet": ("quiet",),
    "start": ("keeper", "services"),
    "ask": ("ask",),
    "warm up": ("probes", "links", "stream", "warm-up"),
    "load": ("freeze", "rates", "load", "end"),
    "finish": ("finish",),
    "load again": ("after the load",),
    "stop": ("stop", "leave"),
}
_TOGETHER = ("freeze", "rates", "load", "end", "stop")
"Phases that trials in turns have together."
_CRUMB_S = 0.001


def block_times(trials: Sequence[Trial]) -> list[tuple[str, float, float]]:
    """Return stages with their median seconds over trials, and over blocks.

    Empty where trials have no phases, or phases that overlap: those of old trials in turns do.
    """
    if not any(trial.phases for trial in trials):
        return []
    launches = [[*launch] for _, launch in groupby(trials, lambda trial: trial.started)]
    blocks: dict[int, dict[str, float]] = {}
    for launch, later in zip_longest(launches, launches[1:]):
        times = _times(launch, later[0] if later else None)
        if times["between stages"] < -_CRUMB_S:
            return []
        block = blocks.setdefault(launch[0].block, dict.fromkeys(times, 0.0))
        block |= {stage: block[stage] + seconds for stage, seconds in times.items()}
    columns = [_times([trial]) for trial in trials], [*blocks.values()]
    medians = [
        {stage: statistics.median(times[stage] for times in column) for stage in column[0]}
        for column in columns
    ]
    return [(stage, medians[0][stage], whole) for stage, whole in medians[1].items() if whole]


def _times(launch: Sequence[Trial], later: Trial | None = None) -> dict[str, float]:
    """Return the seconds of each stage of trials that ran together, until a later one began."""
    times = dict.fromkeys(_STAGES, 0.0)
    for stage, phases in _STAGES.items():
        for phase in phases:
            seconds = [trial.phases.get(phase, 0.0) for trial in launch]
            times[stage] += max(seconds) if phase in _TOGETHER else sum(seconds)
    busy_s = max(trial.seconds for trial in launch)
    all_s = (later.started - launch[0].started).total_seconds() if later else busy_s
    rest_s, between_s = busy_s - sum(times.values()), all_s - busy_s
    return times | {"between stages": rest_s, "between trials": between_s, "in all": all_s}


def block_lines(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield the table of a block's time, in Markdown."""
    if rows := block_times(trials):
        yield "# Time of a block, by stage\n\nMedians over trials, and over blocks. "
        yield "Trials in turns have one load and one stop together.\n\n"
        yield "| stage | trial (s) | block (s) |\n| --- | ---: | ---: |\n"
        yield from (f"| {stage} | {trial:.3f} | {block:.3f} |\n" for stage, trial, block in rows)
        yield "\n"


def block_row(trials: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """Yield what a block takes, and its stages, the longest first, as one row."""
    if rows := sorted(block_times(trials), key=lambda row: -row[-1]):
        each = (f"{stage} {readable.amount('s', seconds)}" for stage, _, seconds in rows)
        yield "time of a block", f"{', '.join(each)} (raw.md has the table)"
