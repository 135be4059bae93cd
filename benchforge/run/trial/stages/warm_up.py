"""Warm up: users logged in, answers probed, the monitor started, a load that does not count."""

import contextlib
from dataclasses import replace
from typing import NamedTuple

from benchforge.errors import OutputDamaged, TrialFailed
from benchforge.parts.fault import warming
from benchforge.parts.site import Target
from benchforge.run.http import probes
from benchforge.run.http.monitor import LABEL, LEAST, LEAST_OF_SEARCH, Monitoring
from benchforge.run.http.request import HttpProbe, Like
from benchforge.run.http.wire.capture import LoadWindows
from benchforge.run.mix.ready import AnsweredMix, monitoring, ready_at
from benchforge.run.trial.scope import Serving, TrialScope
from benchforge.run.trial.stages.ask import AnsweringServer
from benchforge.run.trial.stages.drive import LoadToolRun, drive
from benchforge.run.trial.stages.start import failed
from benchforge.run.trial.stages.windows import around, around_s, connections_of
from benchforge.suite.mix.record import FILE
from benchforge.suite.suite import SAFE


class WarmServer(NamedTuple):
    """A server that answered rightly and is warm, and what its load needs."""

    answering: AnsweringServer
    alone: HttpProbe
    "The request; its answer is held to the server's own."
    before: list[probes.ProbeResult]
    monitor: Monitoring | None
    windows: LoadWindows
    "Windows in which the load's own answers are read."
    target: Target
    mix: AnsweredMix | None
    "Mix of which each kind was answered; None for one request."


def warm_up(
    scope: TrialScope, answering: AnsweringServer, windows: LoadWindows | None = None
) -> WarmServer:
    """Log users in, probe, start the monitor, write the stream, and load for a while.

    On hosts, `windows` may be those of another host. Raises TrialFailed.
    """
    case, recorder, sandbox, probe = scope.case, scope.recorder, scope.sandbox, answering.probe
    with recorder.phase("probes"):
        block = scope.inputs.step.run_seed, scope.inputs.step.block
        workload = case.workload
        mix = None if workload is None else ready_at(workload, sandbox, probe, recorder.load, block)
        if windows is None:
            read = connections_of(scope, answering)
            windows = LoadWindows(scope.sandbox, read.port, read.why, read.behind)
        if recorder.load is not None and recorder.load.concurrency is not None:
            windows.clients = recorder.load.concurrency
        monitor = None
        if windows.why or windows.behind or (case.monitor and case.monitor.exact):
            monitor = _monitor(scope, mix, probe)
        alone = probe
        if probe.expect.same_body and probe.like is None:
            alone = replace(probe, like=Like(probe.label, answering.body))
        many = alone.version == "HTTP/2" and alone.request.method in SAFE
        count = probes.BEFORE_HTTP2 if many else probes.BEFORE
        results_before = probes.ask_repeatedly(sandbox, alone, count, recorder.load)
        recorder.probes = probes.probes(results_before, (), alone.version)
        still_there(scope, answering.services, "while it was asked", "ask")
        backends = (each.site for each in answering.services if each.role == "backend")
        ports = {site.label: {*site.ports.values()} for site in backends}
        recorder.encryption = scope.tap.links(ports)
        scope.tap.close()
    target = target_of(scope, probe)
    recorder.url = target.url
    if workload and mix:
        with recorder.phase("stream"):
            file, share = scope.scratch / FILE, scope.inputs.divided or (case.driver, 0, 1)
            recorder.stream = mix.written(share, file, scope.context.secrets)
            target = replace(target, stream=file, kinds=tuple(workload.shares))
    if case.warm_up_s:
        with recorder.phase("warm-up"):
            _load_uncounted(scope, target, windows, "warm-up", case.warm_up_s)
    return WarmServer(answering, alone, results_before, monitor, windows, target, mix)


def load_again(scope: TrialScope, warm: WarmServer) -> None:
    """Load for a moment after the load: answers are judged where windows disturb nothing.

    Not after a warm-up or uncounted slices, which have had their windows; nor for a mix or a share
    of a load, a tool that is slow to start or to end, or a smoke run.
    """
    case, driver = scope.case, scope.case.driver
    length_s = around_s(scope.recorder.reading, scope.recorder.load)
    slow = driver.interrupted_by is None and warming(driver, length_s).declared_s() > length_s
    for_load = case.workload or scope.inputs.divided
    windows_before = case.warm_up_s or case.turns or warm.windows.why
    if windows_before or for_load or slow or scope.context.quiet == "off":
        return
    with scope.recorder.phase("after the load"), contextlib.suppress(TrialFailed, OutputDamaged):
        _load_uncounted(scope, warm.target, warm.windows, "after-load", length_s)


def _load_uncounted(
    scope: TrialScope, target: Target, windows: LoadWindows, label: str, length_s: float
) -> None:
    """Load for a while with windows; nothing is measured. Raises what `drive` raises."""
    tool = LoadToolRun(
        driver=warming(scope.case.driver, length_s),
        target=replace(target, phase="warm-up"),
        label=label,
        cpus=scope.context.places.get("loader"),
        length_s=length_s,
    )
    with windows.during("around", *around(scope, length_s)):
        drive(scope.sandbox, tool, scope.recorder)


def still_there(scope: TrialScope, services: list[Serving], when: str, stage: str) -> None:
    """Raise TrialFailed where a service has ended."""
    for serving in reversed(services):
        if serving.running is not None and (end := scope.sandbox.finished(serving.running)):
            raise failed(serving, f"ended with exit code {end.code} {when}", stage, ended=True)


def _monitor(scope: TrialScope, mix: AnsweredMix | None, probe: HttpProbe) -> Monitoring | None:
    case, context, recorder = scope.case, scope.context, scope.recorder
    if case.monitor is None:
        return None
    arguments = scope.sandbox, scope.scratch / LABEL, probe, recorder.load
    monitor = monitoring(mix.users, *mix.seed)(*arguments) if mix else Monitoring(*arguments)
    least = LEAST if case.find is None else LEAST_OF_SEARCH
    cpus, seed = context.places.get("loader"), scope.inputs.step.seed
    monitor.start(context.python, cpus, case.monitor, least=least, seed=seed)
    return monitor


def target_of(scope: TrialScope, probe: HttpProbe) -> Target:
    """Return what a load tool needs of a server that answers."""
    context = scope.context
    return Target(
        url=probe.root + probe.request.path,
        request=probe.request.framed,
        folder=scope.inputs.folder,
        programs=context.programs,
        python=context.python_of(scope.case.driver),
        ca_file=probe.ca_file,
        suite_folder=context.suite_folder,
    )
