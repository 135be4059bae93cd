"""Waiting, before a trial, until nothing else uses the CPUs."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchforge.model.trial.check import Check
from benchforge.model.values.units import Duration
from benchforge.run.machine.cpu_ticks import FOREIGN, Ticks, ticks
from benchforge.text.readable import percent

Patience = Duration | Literal["off"] | None
"As [repeat] quiet says it."

ID = "quiet"
MOST_S = 30.0
FIRST_LOOK_S, LOOK_S = 0.05, 0.2  # the first only tells idle from busy; a tick is 10 ms
GLANCE_S = 0.02  # enough where others used no tick: it misses about as few of them
_SYSTEM = Path("/")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ForeignLoad:
    """What others did at the last look: their share of the CPUs; None is unknown."""

    quiet: bool | None
    share: float | None


def at_most_s(patience: Patience, load_s: float, spare_s: float) -> float | None:
    """Return how long to wait; None for not even to look.

    `load_s` is what the trial declares: by default a run takes twice as long at the worst.
    `spare_s` is what is left before the run's time limit.
    """
    if patience == "off":
        return None
    return min(spare_s, min(load_s, MOST_S) if patience is None else float(patience))


def until_quiet(most_s: float) -> ForeignLoad:
    """Look until it is quiet, `most_s` seconds at most; return what was seen last."""
    deadline = time.monotonic() + most_s
    seen = _look(GLANCE_S, FIRST_LOOK_S - GLANCE_S)
    while seen.quiet is False and (left_s := deadline - time.monotonic()) >= FIRST_LOOK_S:
        seen = _look(min(LOOK_S, left_s))
    return seen


def _look(*seconds: float) -> ForeignLoad:
    """Look for so long, and on for so long as the next ones say if others used a tick."""
    cpus = os.sched_getaffinity(0)
    before, own_s = ticks(_SYSTEM, cpus), time.process_time()
    seen = ForeignLoad(None, None)
    for more_s in seconds:
        time.sleep(more_s)
        seen = between(before, ticks(_SYSTEM, cpus), time.process_time() - own_s)
        if seen.share == 0:
            break
    return seen


def between(before: Ticks | None, after: Ticks | None, own_s: float) -> ForeignLoad:
    """Judge what was done between two moments, except for `own_s` seconds of CPU time of ours.

    Nothing of a trial runs between trials. What a hypervisor took away counts as others' too.
    """
    if before is None or after is None or after.total <= before.total:
        return ForeignLoad(None, None)
    whole = after.total - before.total
    used = after.busy + after.stolen - before.busy - before.stolen
    others = max(0.0, used - own_s * _TICKS)
    # One tick more, since whoever runs when it strikes is charged with all of it.
    return ForeignLoad(others <= FOREIGN * whole + 1, min(1.0, others / whole))


def check(seen: ForeignLoad) -> Check:
    """Return whether a trial began while it was quiet."""
    status: Literal["pass", "warn", "unknown"]
    match seen.quiet:
        case True:
            status, says = "pass", "little else used the CPUs before the trial"
        case False:
            status = "warn"
            says = "others used the CPUs before the load: stop them, or set a longer [repeat] quiet"
        case None:
            status, says = "unknown", "/proc/stat does not say who used the CPUs before the trial"
    return Check(
        id=ID,
        topic="quiet",
        scope="trial",
        subject="apparatus",
        status=status,
        value=seen.share,
        threshold=f"at most {percent(FOREIGN)} of the CPUs, and a tick",
        source="/proc/stat of the CPUs that we may use: busy and stolen, without our own",
        message=says,
    )
