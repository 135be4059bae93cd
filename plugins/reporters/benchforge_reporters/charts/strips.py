"""CPU use of each role and of others during a trial's load, as a strip."""

import csv
import io
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup

from benchforge.plugin import Trial, door, readable
from benchforge.plugin.drawing import stretched, svg
from benchforge_reporters.charts.stacks import ROLES

_HEIGHT = 36
_MOST_BYTES = 2_000_000
_MOST_STEPS = 120
"Looks that are drawn of a trial."
_VISIBLE = 0.01
"CPUs: who used less is not drawn."
_Course = Sequence[tuple[float, float]]
"Seconds, each with the CPU time until then."


@dataclass(frozen=True)
class _Look:
    at: float
    "Seconds since the load began."
    used: dict[str, float]
    "CPU time since then, of each role and of others."


def strip(trial: Trial, folder: Path) -> Markup | None:
    """Return the strip of a trial from its usage.csv and system.csv; None where they say nothing.

    `folder` has the trials: it is that of the result, or a link of ours to it.
    """
    cpus = cpus_of(trial)
    looks = _looks(trial, folder)
    if not cpus or len(looks) < 2:  # noqa: PLR2004 - a course needs two looks
        return None
    shares = [_shares(first, second) for first, second in pairwise(looks)]
    ends = [look.at for look in looks[1:]]
    names = (*ROLES, "other")
    sums = [0.0] * len(shares)
    pieces = []
    for name in names:
        below = list(sums)
        sums = [under + by_name.get(name, 0.0) for under, by_name in zip(sums, shares, strict=True)]
        if max(top - under for top, under in zip(sums, below, strict=True)) >= _VISIBLE:
            pieces.append(f'<path class="role-{name}" d="{_area(ends, below, sums, cpus)}"/>')
    total = looks[-1].at - looks[0].at
    means = [
        f"{name} {readable.figure(used / total)}"
        for name in names
        if (used := looks[-1].used.get(name, 0.0) - looks[0].used.get(name, 0.0)) / total
        >= _VISIBLE
    ]
    about = f"trial {trial.number}: of {readable.counted(cpus, 'CPU')} {readable.listed(means)}"
    return svg(_HEIGHT, stretched("100%", _HEIGHT, "".join(pieces)), about, "strip")


def cpus_of(trial: Trial) -> int:
    """Return the number of CPUs that benchforge may use; 0 if unknown."""
    machine = trial.observation.machine if trial.observation else None
    return 0 if machine is None else machine.cpus


def _shares(first: _Look, second: _Look) -> dict[str, float]:
    """Return the CPUs that each used between two looks."""
    seconds = second.at - first.at
    used = {name: used - first.used.get(name, 0.0) for name, used in second.used.items()}
    return {name: max(0.0, cpu_s) / seconds for name, cpu_s in used.items()}


def _area(ends: Sequence[float], below: Sequence[float], upper: Sequence[float], cpus: int) -> str:
    def y(value: float) -> int:
        return round(1000 * (1 - min(value, cpus) / cpus))

    places = [0, *(round(1000 * end / ends[-1]) for end in ends)]
    steps = list(zip(places, places[1:], upper, below, strict=False))
    forth = " ".join(f"{start},{y(top)} {end},{y(top)}" for start, end, top, _ in steps)
    back = " ".join(f"{end},{y(low)} {start},{y(low)}" for start, end, _, low in reversed(steps))
    return f"M{forth} {back}Z"


def _looks(trial: Trial, folder: Path) -> list[_Look]:
    trial_folder = folder / "trials" / f"{trial.number:04}"
    try:
        courses = _of_parts(_rows(trial_folder, "usage.csv"))
        busy = [*_of_machine(_rows(trial_folder, "system.csv"))]
    except (OSError, ValueError, KeyError, csv.Error):
        return []
    looks = [_look(time_s, total, courses) for time_s, total in busy]
    looks = [look for index, look in enumerate(looks) if not index or look.at > looks[index - 1].at]
    apart = max(1, len(looks) // _MOST_STEPS)
    return [*looks[:-1:apart], *looks[-1:]]


def _look(time_s: float, busy: float, courses: Mapping[str, _Course]) -> _Look:
    used = {role: _between(course, time_s) for role, course in courses.items()}
    return _Look(time_s, {**used, "other": max(0.0, busy - sum(used.values()))})


def _between(course: _Course, time_s: float) -> float:
    """Return the value of a course at a time: parts and machine are read one after the other."""
    index = bisect_left(course, (time_s, 0.0))
    if index in {0, len(course)}:
        return course[min(index, len(course) - 1)][1]
    (earlier_s, less), (behind, more) = course[index - 1], course[index]
    return less + (more - less) * (time_s - earlier_s) / ((behind - earlier_s) or 1.0)


def _of_parts(rows: Iterator[dict[str, str]]) -> dict[str, _Course]:
    """Return the CPU time of each role over time, in seconds."""
    by_label: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        if row["role"] in ROLES and row["cpu_s"]:
            course = by_label.setdefault((row["role"], row["label"]), [])
            course.append((float(row["time_s"]), float(row["cpu_s"])))
    courses: dict[str, _Course] = {}
    for (role, _), course in by_label.items():
        others = courses.get(role, [(0.0, 0.0)])
        courses[role] = [(time_s, used + _between(others, time_s)) for time_s, used in course]
    return courses


def _of_machine(rows: Iterator[dict[str, str]]) -> Iterator[tuple[float, float]]:
    """Yield the CPU time of all programs over time, in seconds."""
    for row in rows:
        if cells := [cell for name, cell in row.items() if name.endswith(".busy_s") and cell]:
            yield float(row["time_s"]), sum(map(float, cells))


def _rows(file: Path, name: str) -> Iterator[dict[str, str]]:
    text = door.read(file.parent, f"{file.name}/{name}", _MOST_BYTES).decode()
    yield from csv.DictReader(io.StringIO(text), strict=True, restkey="", restval="")
