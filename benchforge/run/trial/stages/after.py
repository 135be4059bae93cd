"""After the load: what a server still spends, until it idles."""

import contextlib
import time
from collections.abc import Sequence

from benchforge.model.trial.observation import WorkAfter
from benchforge.run.trial.scope import TrialScope
from benchforge.run.watch.part import PartProcesses

_IDLE_S, _MOST_S = 0.1, 2.0
"How long a server idles until the watch ends, and how long the watch lasts at most, in seconds."
_LOOK_EVERY_S = 0.02
_IDLE_CPU_S = 0.001  # in _IDLE_S: event loops and supervisors wake up for nothing


def look_after(servers: Sequence[tuple[TrialScope, PartProcesses]]) -> None:
    """Watch servers together after their loads, in the first block; add to each observation."""
    if not servers or servers[0][0].inputs.step.block > 1:
        return
    with contextlib.ExitStack() as phases:
        for number, (scope, _) in enumerate(servers):
            phases.enter_context(scope.recorder.phase("idle", tells=not number))
        works = _until_idle([part for _, part in servers])
    for (scope, _), work in zip(servers, works, strict=True):
        if (observation := scope.recorder.observation) is not None:
            scope.recorder.observation = observation.model_copy(update={"after": work})


def _until_idle(parts: Sequence[PartProcesses]) -> list[WorkAfter]:
    """Watch servers until all idle, and return what each spent since it was looked at last."""
    first = rested = spent = [part.cpu_s() for part in parts]
    begun_s = rests_s = now_s = time.monotonic()
    idle = False
    while not idle and now_s < begun_s + _MOST_S:
        time.sleep(_LOOK_EVERY_S)
        for part in parts:
            part.look(now_s, fully=True)
        spent, now_s = [part.cpu_s() for part in parts], time.monotonic()
        if sum(spent) - sum(rested) > _IDLE_CPU_S:
            rested, rests_s = spent, now_s
        # A thread of low priority gets no CPU while others want it.
        idle = now_s >= rests_s + _IDLE_S and not any(part.threads.ready() for part in parts)
    grown = [max(0.0, last - cpu_s) for cpu_s, last in zip(first, spent, strict=True)]
    return [WorkAfter(cpu_s=cpu_s, seconds=now_s - begun_s, idle=idle) for cpu_s in grown]
