"""The stream of a trial's mix: written before the load; probes of each kind."""

from dataclasses import dataclass, replace

from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.answers.good_response import GoodResponse, right_of
from benchforge.model.trial.answers.probes import Probes
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Load
from benchforge.run.http import probes
from benchforge.run.http.request import HttpProbe, until_right
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.suite import SAFE
from benchforge.suite.workload import Reply, Workload

FILE = "stream.bin"
BEFORE, AFTER = 3, 1
"Probes of each kind whose request changes nothing; others and later steps have one, before."


@dataclass(frozen=True)
class KindProbes:
    """The probes of one kind."""

    probe: HttpProbe
    first: Answer
    before: list[probes.ProbeResult]


def logged_in(
    sandbox: Sandbox, workload: Workload, asking: HttpProbe, seed: tuple[int, int]
) -> Workload:
    """Log all users of a mix in. Raises TrialFailed where an answer stays wrong."""
    logins: list[Reply] = []
    for request, expect in workload.logins(*seed):
        probe = replace(asking, request=request, expect=expect, like=None)
        reply = until_right(sandbox, probe, float(asking.part.ready_within))
        logins.append(Reply(reply.answer.headers, reply.body))
    return workload.logged_in(*seed, logins) if logins else workload


def probed(
    sandbox: Sandbox, workload: Workload, asking: HttpProbe, load: Load | None
) -> dict[str, KindProbes]:
    """Send a request of each kind until it is answered rightly, then again.

    Raises TrialFailed where the answer stays wrong.
    """
    there: dict[str, KindProbes] = {}
    replies: dict[str, Reply] = {}
    for label, first in workload.first.items():
        later = label in workload.after
        request, expect = workload.followed(label, replies) if later else first
        probe = replace(asking, request=request, expect=expect, like=None)
        reply = until_right(sandbox, probe, float(asking.part.ready_within))
        replies[label] = Reply(reply.answer.headers, reply.body)
        again = []
        if _safe(workload, label):
            again = probes.ask_repeatedly(sandbox, probe, BEFORE, load)
        there[label] = KindProbes(probe, reply.answer, again)
    return there


def judged(
    sandbox: Sandbox, stream: Stream, workload: Workload, there: dict[str, KindProbes], load: Load
) -> Stream:
    """Return the stream with the answers to probes, and with what is right of each kind."""
    kinds: dict[str, StreamKind] = {}
    for label, kind in stream.kinds.items():
        asks = there[label]
        safe = _safe(workload, label)
        after = probes.ask_repeatedly(sandbox, asks.probe, AFTER, load) if safe else []
        seen = probes.probes(asks.before, after, load)
        right = right_of_kind(workload, label, asks.first, seen if asks.before else None)
        kinds[label] = kind.model_copy(update={"probes": seen, "good_response": right})
    return stream.model_copy(update={"kinds": kinds})


def right_of_kind(
    workload: Workload, label: str, first: Answer, seen: Probes | None
) -> GoodResponse:
    """Return what is right of a kind: with holes, its bodies may have any length."""
    request, expect = workload.first[label]
    right = right_of(expect, request, [first], seen)
    if expect.length is None and workload.varies(label):
        return GoodResponse(status=right.status, shortest=0, longest=None, binding=False)
    return right


def _safe(workload: Workload, label: str) -> bool:
    """Whether probes may repeat a request: of a flow only the first, which needs no other."""
    return workload.first[label][0].method in SAFE and label not in workload.after
