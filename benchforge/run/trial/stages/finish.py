"""Finish: what the load tool says, and the request once more."""

from functools import partial

from benchforge.errors import OutputDamaged
from benchforge.model.trial.answers.good_response import right_of
from benchforge.model.trial.answers.monitor import Monitor
from benchforge.model.trial.observation import Observation
from benchforge.parts.fault import reading_of
from benchforge.parts.site import Output
from benchforge.run.http import probes
from benchforge.run.http.request import once
from benchforge.run.http.wire.judged import right_of_request
from benchforge.run.trial.scope import TrialScope
from benchforge.run.trial.stages.load import LoadedServer
from benchforge.run.trial.stages.warm_up import WarmServer, load_again, still_there
from benchforge.run.trial.stages.windows import judged
from benchforge.stats.turns import counted_in_slices, in_turns
from benchforge.suite.secrets import redact

_OPENED = ("TcpPassiveOpens", "TcpActiveOpens")


def finish(scope: TrialScope, loaded: LoadedServer) -> None:
    """Read what the load tool says, ask the server again, and judge probes, mix and monitor.

    Raises TrialFailed where a service ended or answers otherwise, and OutputDamaged.
    """
    case, sandbox, recorder, warm = scope.case, scope.sandbox, scope.recorder, loaded.warm
    answering = warm.answering
    hide = partial(redact, secrets=scope.context.secrets)
    with recorder.phase("finish"):
        recorder.exhaustions = probes.complaints(recorder.started, hide)
        still_there(scope, answering.services, "during the load", "drive")
        reading = reading_of(case.driver, Output(loaded.target, loaded.finished, hide))
        recorder.reading = reading
        if recorder.turns is not None:
            recorder.turns, reason = counted_in_slices(reading, recorder.turns, recorder.load)
            if reason is not None:
                raise OutputDamaged(f"{case.name.driver}: {reason}")
            recorder.reading = in_turns(reading, recorder.turns)
        recorder.answers.append(once(sandbox, warm.alone).answer)
        later = probes.ask_repeatedly(sandbox, warm.alone, probes.AFTER, recorder.load)
        signs = probes.debug(sandbox, answering.probe)
        recorder.probes = probes.probes(warm.before, later, warm.alone.version, signs)
        listener = probes.listener(sandbox, answering.probe, answering.port, recorder.listener)
        recorder.listener = listener
        if case.workload is None:
            answers = recorder.answers, recorder.probes
            recorder.good_response = right_of(case.expect, case.request, *answers)
        elif recorder.stream and warm.mix:
            recorder.stream = warm.mix.judged(recorder.stream)
    load_again(scope, warm)
    with recorder.phase("finish"):
        _judge_load(scope, warm)


def _judge_load(scope: TrialScope, warm: WarmServer) -> None:
    recorder, monitor = scope.recorder, warm.monitor
    if recorder.probes is None:
        return
    bodies = frozenset(kind.answer.content_sha256 for kind in recorder.probes.most_frequent)
    right_of = warm.mix.right_of(warm.alone) if warm.mix else right_of_request(warm.alone)
    recorder.load_answers = judged(scope, warm.windows, right_of, bodies)
    if monitor is None or recorder.observation is None:
        return
    recorder.monitor = monitor.judged(warm.alone, bodies, scope.inputs.folder)
    recorder.observation = _without(recorder.observation, recorder.monitor)


def _without(observation: Observation, monitor: Monitor) -> Observation:
    """Return an observation without the monitor's connections, its CPU time counted as ours."""
    counters = {
        name: max(0, count - monitor.connections) if name in _OPENED else count
        for name, count in observation.counters.items()
    }
    sampler_s = observation.sampler_cpu_s + monitor.cpu_s
    return observation.model_copy(update={"counters": counters, "sampler_cpu_s": sampler_s})
