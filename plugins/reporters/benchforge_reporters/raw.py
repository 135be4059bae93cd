"""raw.md: the time of a block, and each command of each trial with what it printed."""

import os
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from pathlib import Path
from statistics import median

from benchforge.plugin import StartedProcess, Summary, Trial, door, readable, safe, titled

# Bytes shown of the beginning and of the end of a long output: in the first trial of a case and
# in those that failed, and in all others.
_EACH_END, _EACH_END_AGAIN = 4_000, 1_000
_STAGES = {
    "wait for quiet": ("quiet",),
    "start": ("keeper", "services"),
    "ask": ("ask",),
    "warm up": ("probes", "links", "stream", "warm-up"),
    "load": ("freeze", "rates", "load", "end"),
    "watch what follows": ("idle",),
    "finish": ("finish",),
    "load again": ("after the load",),
    "stop": ("stop", "leave"),
}
_TOGETHER = ("freeze", "rates", "load", "end", "idle", "stop")
"Phases that trials in turns have together."
_CRUMB_S = 0.001


def medians(summary: Summary) -> Iterator[str]:
    """Yield the median of each metric of each case: the other reports have geometric means."""
    yield "# Medians of the trials\n\n"
    for case in summary.cases:
        for line in case.metrics:
            if line.median is not None:
                value = readable.amount(line.unit, line.median)
                text = f"{case.case.title}, {titled(line.metric, line.of)}: {value}"
                yield f"- {safe.markdown(safe.line(text))}\n"
    yield "\n"


def raw(trials: Sequence[Trial], folder: Path) -> Iterator[str]:
    """Yield the text of raw.md for a result in a folder, trial by trial: it may be long."""
    yield "# Each command, and what it printed\n"
    titles: set[str] = set()
    for trial in trials:
        again = trial.measured and trial.case.title in titles
        titles.add(trial.case.title)
        parts = _trial(trial, folder, _EACH_END_AGAIN if again else _EACH_END)
        yield from (f"\n{part}" for part in parts)


def trial_folder(trial: Trial) -> str:
    """Return where a trial's files stand, from the result's folder."""
    return f"trials/{trial.number:04}"


def _trial(trial: Trial, folder: Path, each_end: int) -> Iterator[str]:
    folder_name = trial_folder(trial)
    yield f"## Trial {trial.number}\n"
    yield f"Block {trial.block}, position {trial.position}, attempt {trial.attempt}:\n"
    yield safe.fenced(f"{safe.line(trial.case.title)}\n{folder_name}/")
    for process in trial.processes:
        yield f"### {safe.markdown(process.label)}: {_ended(process.exit_code)}\n"
        yield safe.fenced(command_line(process), "sh")
        for name in (process.stdout, process.stderr):
            yield from _printed(folder / folder_name, name, each_end)
        if process.truncated:
            yield f"Of {' and '.join(process.truncated)} only the first 64 MiB were kept.\n"


def _printed(path: Path, name: str, each_end: int) -> Iterator[str]:
    text = _excerpt(path, name, each_end)
    if text is None:
        yield f"{safe.markdown(name)}: the file is not there\n"
    elif not text.strip():
        yield f"{safe.markdown(name)}: empty\n"
    else:
        yield f"{safe.markdown(name)}:\n"
        yield safe.fenced(text)


def _excerpt(path: Path, name: str, each_end: int) -> str | None:
    """Return a file's text, a long one without its middle; None when the trial has no such file.

    A name that leads out of the trial's folder is refused: a result may come from anybody.
    """
    # The folder of all trials may be a link of ours to that of the result.
    try:
        with door.stream(path.parent, f"{path.name}/{name}") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            if size <= 2 * each_end:
                return stream.read(size).decode(errors="replace")
            start = stream.read(each_end).decode(errors="replace")
            stream.seek(size - each_end)
            end = stream.read(each_end).decode(errors="replace")
    except OSError:
        return None
    note = f"[... {readable.exact(size - 2 * each_end)} bytes left out: all of it is in {name} ...]"
    return f"{start}\n\n{note}\n\n{end}"


def _ended(code: int | None) -> str:
    if code is None:
        return "ran until it was stopped"
    return f"exit code {code}" if code >= 0 else f"ended by signal {-code}"


def command_line(process: StartedProcess) -> str:
    """Return a command, with what was added to its environment before it."""
    added = [f"{name}={shlex.quote(value)}" for name, value in process.environment.items()]
    return " ".join([*added, shlex.join(process.argv)])


def first_commands(summary: Summary, trials: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """Yield title and commands of each case, as of its first trial, in the suite's order."""
    first: dict[str, Trial] = {}
    for trial in trials:
        if trial.processes:
            first.setdefault(trial.case.title, trial)
    titles = dict.fromkeys(case.case.title for case in summary.cases)
    for title in (*titles, *(other for other in first if other not in titles)):
        if title in first:
            yield title, "\n".join(map(command_line, first[title].processes))


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
    medians = [{key: median(row[key] for row in rows) for key in rows[0]} for rows in columns]
    return [(stage, medians[0][stage], block_s) for stage, block_s in medians[1].items() if block_s]


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
