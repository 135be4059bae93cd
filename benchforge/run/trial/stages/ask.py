"""Ask: the request of the scenario, until the server answers rightly."""

from dataclasses import replace
from typing import NamedTuple

from benchforge.run.http import probes
from benchforge.run.http.connect import address
from benchforge.run.http.request import HttpProbe, Like, until_right
from benchforge.run.trial.scope import Serving, TrialScope
from benchforge.run.trial.stages.start import is_ours, question


class AnsweringServer(NamedTuple):
    """Services that run, of which the server answered rightly; the server is the last."""

    services: list[Serving]
    probe: HttpProbe
    port: int
    body: bytes


def ask(scope: TrialScope, services: list[Serving], like: Like | None = None) -> AnsweringServer:
    """Send the request until our own process answers rightly. Raises TrialFailed.

    Its answer must equal `like`, or that of the inputs.
    """
    sandbox, recorder = scope.sandbox, scope.recorder
    probe = question(scope, services[-1], like or scope.inputs.like)
    with recorder.phase("ask"):
        within_s = float(scope.case.server.ready_within) * scope.inputs.at_once
        reply = until_right(sandbox, probe, within_s)
        if probe.version == "either":
            http2 = reply.answer.version == "HTTP/2"
            probe = replace(probe, version="HTTP/2" if http2 else "HTTP/1.1")
        port = address(probe.root)[1]
        recorder.listener = probes.listener(sandbox, probe, port, None)
        is_ours(sandbox, services[-1], port)
        recorder.ready(sandbox)
        recorder.answers.append(reply.answer)
        recorder.body = reply.body
    return AnsweringServer(services, probe, port, reply.body)
