"""Where the time of a block goes, by stage of its trials."""

import statistics
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from benchforge.plugin import Trial, readable

_STAGES = {
    "quiet": "wait for quiet",
    **dict.fromkeys(("keeper", "services"), "start"),
    "ask": "ask",
    **dict.fromkeys(("probes", "links", "stream", "warm-up"), "warm up"),
    **dict.fromkeys(("freeze", "rates", "load", "end"), "load"),
    "finish": "finish",
    **dict.fromkeys(("stop", "leave"), "stop"),
}
_OF_LAUNCH = {"freeze", "rates", "load", "end", "stop"}
"Phases that trials in turns have together."
_REST, _BETWEEN, _ALL = "between stages", "between trials", "in all"
_ROWS = (*dict.fromkeys(_STAGES.values()), _REST, _BETWEEN, _ALL)
_CRUMB_S = 0.001


def block_times(trials: Sequence[Trial]) -> list[tuple[str, float, float]]:
    """Return stages with their median seconds over trials, and over blocks.

    Empty where trials have no phases, or phases that overlap: those of old trials in turns do.
    """
    if not any(trial.phases for trial in trials):
        return []
    launches = [list(launch) for _, launch in groupby(trials, lambda trial: trial.started)]
    starts_s = [launch[0].started.timestamp() for launch in launches]
    blocks: dict[int, dict[str, float]] = {}
    for launch, start_s, next_s in zip(launches, starts_s, [*starts_s[1:], None], strict=True):
        times = _times(launch)
        if times[_REST] < -_CRUMB_S:
            return []
        if next_s is not None:
            times[_BETWEEN] = next_s - start_s - times[_ALL]
            times[_ALL] += times[_BETWEEN]
        block = blocks.setdefault(launch[0].block, dict.fromkeys(_ROWS, 0.0))
        for row, seconds in times.items():
            block[row] += seconds
    of_trials = [_times([trial]) for trial in trials]
    times_of = [(row, _median(row, of_trials), _median(row, blocks.values())) for row in _ROWS]
    return [row for row in times_of if any(row[1:])]


def _times(launch: Sequence[Trial]) -> dict[str, float]:
    """Return the seconds of each stage of trials that ran together."""
    times = dict.fromkeys(_ROWS, 0.0)
    for phase, stage in _STAGES.items():
        seconds = [trial.phases.get(phase, 0.0) for trial in launch]
        times[stage] += max(seconds) if phase in _OF_LAUNCH else sum(seconds)
    whole_s = max(trial.seconds for trial in launch)
    return times | {_REST: whole_s - sum(times.values()), _ALL: whole_s}


def _median(row: str, times: Collection[dict[str, float]]) -> float:
    return statistics.median(each[row] for each in times)


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
    if rows := block_times(trials):
        *stages, (_, _, whole_s) = rows
        stages.sort(key=lambda row: -row[-1])
        each = (f"{stage} {readable.amount('s', seconds)}" for stage, _, seconds in stages)
        whole = readable.amount("s", whole_s)
        yield "time of a block", f"{whole}, by stage: {', '.join(each)} (raw.md has the table)"
