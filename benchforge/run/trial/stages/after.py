"""After the load: what a server still spends, until it idles."""

import contextlib
from collections.abc import Sequence

from benchforge.run.trial.scope import TrialScope
from benchforge.run.watch.after import until_idle
from benchforge.run.watch.part import PartProcesses


def look_after(servers: Sequence[tuple[TrialScope, PartProcesses]]) -> None:
    """Watch servers together after their loads, in the first block; add to each observation."""
    if not servers or servers[0][0].inputs.step.block > 1:
        return
    with contextlib.ExitStack() as phases:
        for number, (scope, _) in enumerate(servers):
            phases.enter_context(scope.recorder.phase("idle", tells=not number))
        works = until_idle([part for _, part in servers])
    for (scope, _), work in zip(servers, works, strict=True):
        if (observation := scope.recorder.observation) is not None:
            scope.recorder.observation = observation.model_copy(update={"after": work})
