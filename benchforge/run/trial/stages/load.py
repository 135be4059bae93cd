"""Load: one load tool runs to its end, and all processes are looked at meanwhile."""

import time
from dataclasses import dataclass

from benchforge.parts.command import Finished
from benchforge.parts.site import Target
from benchforge.run.trial.scope import Serving, TrialScope, driver_label
from benchforge.run.trial.stages.after import look_after
from benchforge.run.trial.stages.drive import LoadToolRun, drive
from benchforge.run.trial.stages.warm_up import WarmServer
from benchforge.run.trial.stages.windows import in_load
from benchforge.run.watch.sampler import Services, Watch


@dataclass(frozen=True)
class LoadedServer:
    """A server after its load; the load tools have ended."""

    warm: WarmServer
    target: Target
    "Target of the load: the load tool's output is read by it."
    finished: tuple[Finished, ...]


def load(
    scope: TrialScope, warm: WarmServer, label: str = "", begins_s: float | None = None
) -> LoadedServer:
    """Run the load tool to its end; nothing is reported until it returns. Raises as `drive`.

    `label` is that of its process; `begins_s` a moment of the monotonic clock to wait for.
    """
    recorder = scope.recorder
    with recorder.phase("load"), watch(scope, warm.answering.services) as watched:
        watched.leave_out(warm.monitor)
        if begins_s is not None:
            time.sleep(max(0.0, begins_s - time.monotonic()))
        recorder.load_began_s = time.monotonic()
        cpus = scope.context.places.get("loader")
        tool = LoadToolRun(scope.case.driver, warm.target, label or driver_label(scope.case), cpus)
        with warm.windows.during("load", *in_load(scope)):
            finished = drive(scope.sandbox, tool, recorder, watched, warm.monitor)
        recorder.observation = watched.observation(scope.inputs.folder)
        parts = watched.servers()
    look_after([(scope, part) for part in parts])
    recorder.placement = scope.placement.placed()
    return LoadedServer(warm, warm.target, finished)


def watch(scope: TrialScope, services: list[Serving]) -> Watch:
    """Look at services from now on."""
    parts: Services = {each.name: (each.role, each.running) for each in services}
    return Watch(scope.sandbox, parts, _why_foreign(scope, services), scope.placement)


def _why_foreign(scope: TrialScope, services: list[Serving]) -> str:
    """Return why the network counts connections of others than the load tool; "" if not."""
    sandbox = scope.sandbox
    if sandbox.mode.network == "host":
        return "the counters are those of the whole machine"
    talkative = []
    for serving in services[:-1]:
        if (running := serving.running) is not None:
            owns = (sandbox.owns(running, port) for port in serving.site.ports.values())
            if any(is_owned is not False for is_owned in owns):
                talkative.append(serving.site.label)
    if not talkative:
        return ""
    return f"the server's own connections to {', '.join(talkative)} are counted too"
