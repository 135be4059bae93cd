"""A mix at a server that runs: users are logged in, and each kind was answered rightly."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.answers.good_response import GoodResponse, right_of
from benchforge.model.trial.answers.probes import Probes
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Load
from benchforge.run.http.probes import ProbeResult, ask_repeatedly
from benchforge.run.http.probes import probes as probes_of
from benchforge.run.http.request import HttpProbe, until_right
from benchforge.run.mix.monitor import Dealt, MixMonitoring
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.mix.record import Share
from benchforge.suite.mix.sessions import Reply
from benchforge.suite.mix.stream import VERSION, Mix
from benchforge.suite.mix.written import written
from benchforge.suite.suite import SAFE

BEFORE, AFTER = 3, 1
"Probes of each kind whose request changes nothing; others and later steps have one, before."


@dataclass(frozen=True)
class KindProbes:
    """The probes of one kind."""

    probe: HttpProbe
    first: Answer
    before: list[ProbeResult]


@dataclass(frozen=True)
class AnsweredMix:
    """A mix of which a server answered each kind, after the logins of all users."""

    plain: Mix
    "The mix before the logins."
    users: Mix
    sandbox: Sandbox
    server: HttpProbe
    load: Load | None
    seed: tuple[int, int]
    probes: dict[str, KindProbes]

    def monitoring(self) -> partial[MixMonitoring]:
        """Return what makes the monitor of a load."""
        return monitoring(self.users, *self.seed)

    def written(self, share: Share, file: Path, secrets: frozenset[str]) -> Stream:
        """Write the requests of a load into a file. Raises BenchforgeError if a feed runs out."""
        return written((self.plain, self.users), share, self.server.root, self.seed, file, secrets)

    def judged(self, stream: Stream) -> Stream:
        """Return the stream with answers to probes after the load, and what is right of a kind."""
        kinds: dict[str, StreamKind] = {}
        for label, kind in stream.kinds.items():
            asks, safe = self.probes[label], _safe(self.plain, label)
            count = AFTER if safe else 0
            after = ask_repeatedly(self.sandbox, asks.probe, count, self.load)
            seen = probes_of(asks.before, after, self.load)
            right = right_of_kind(self.plain, label, asks.first, seen if asks.before else None)
            kinds[label] = kind.model_copy(update={"probes": seen, "good_response": right})
        return stream.model_copy(update={"kinds": kinds})


def ready_at(
    workload: Mix,
    sandbox: Sandbox,
    server: HttpProbe,
    load: Load | None,
    seed: tuple[int, int],
) -> AnsweredMix:
    """Log all users of a mix in, and send a request of each kind until it is answered rightly.

    `server` is a probe of it, `seed` that of the run with the block. Raises TrialFailed where an
    answer stays wrong.
    """
    users = logged_in(sandbox, workload, server, seed)
    probes = probed(sandbox, users, server, load)
    return AnsweredMix(workload, users, sandbox, server, load, seed, probes)


def monitoring(mix: Mix, seed: int, block: int) -> partial[MixMonitoring]:
    """Return what makes the monitor of a load, which sends a stream of its own."""
    monitored = mix.monitored
    dealt: Dealt = ()
    if monitored.kinds:
        dealt = monitored.dealt(seed, block, f"{VERSION}:{seed}:{block}:monitor")
    return partial(MixMonitoring, dealt, monitored.rows, monitored.flows if monitored.kinds else {})


def logged_in(sandbox: Sandbox, workload: Mix, asking: HttpProbe, seed: tuple[int, int]) -> Mix:
    """Log all users of a mix in. Raises TrialFailed where an answer stays wrong."""
    logins: list[Reply] = []
    for request, expect in workload.logins(*seed):
        probe = replace(asking, request=request, expect=expect, like=None)
        reply = until_right(sandbox, probe, float(asking.part.ready_within))
        logins.append(Reply(reply.answer.headers, reply.body))
    return workload.logged_in(*seed, logins) if logins else workload


def probed(
    sandbox: Sandbox, workload: Mix, asking: HttpProbe, load: Load | None
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
            again = ask_repeatedly(sandbox, probe, BEFORE, load)
        there[label] = KindProbes(probe, reply.answer, again)
    return there


def right_of_kind(workload: Mix, label: str, first: Answer, seen: Probes | None) -> GoodResponse:
    """Return what is right of a kind: with holes, its bodies may have any length."""
    request, expect = workload.first[label]
    right = right_of(expect, request, [first], seen)
    if expect.length is None and workload.varies(label):
        return GoodResponse(status=right.status, shortest=0, longest=None, binding=False)
    return right


def _safe(workload: Mix, label: str) -> bool:
    """Whether probes may repeat a request: of a flow only the first, which needs no other."""
    return workload.first[label][0].method in SAFE and label not in workload.after
