"""The stream of a trial's mix: rendered into a file before the load; probes of each kind."""

import hashlib
import json
import os
import struct
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from benchforge.model.trial.answers.answer import Answer, Request
from benchforge.model.trial.answers.good_response import GoodResponse, right_of
from benchforge.model.trial.answers.probes import Probes
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Load
from benchforge.parts.part import Driver
from benchforge.run.http import probes
from benchforge.run.http.request import HttpProbe, until_right
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.suite import SAFE
from benchforge.suite.workload import Reply, Workload, amount

FILE = "stream.bin"
BEFORE, AFTER = 3, 1
"Probes of each kind whose request changes nothing; others and later steps have one, before."
_ENTRY = struct.Struct("<QIHH")


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


def rendered(
    mixes: tuple[Workload, Workload],
    share: tuple[Driver, int, int],
    root: str,
    seed: tuple[int, int],
    file: Path,
    secrets: frozenset[str],
) -> Stream:
    """Write the requests of a load into a file, and their index beside it.

    The digest is of the first of both mixes, the requests are of the other: with users logged in.
    `seed` is that of the run, and the block. `share` is the whole load, i and k: of k load tools,
    that at place i gets the records i, i + k, and so on. Raises BenchforgeError where a feed ends.
    """
    (driver, place, places), (run, block), (plain, workload) = share, seed, mixes
    extra = [_extra(request, driver, root) for request, _ in workload.first.values()]
    records, sha256, counts, at = amount(driver), hashlib.sha256(), [0] * len(workload.shares), 0
    with _opened(file) as content, _opened(file.with_suffix(".index")) as index:
        for number, record in enumerate(islice(workload.records(run, block), records)):
            if number % places == place:
                sent = record.sent(extra[record.kind])
                index.write(_ENTRY.pack(at, len(sent), record.kind, len(record.later)))
                steps = (struct.pack("<I", len(step)) + step for step in record.later)
                at += sum(map(content.write, (sent, *steps)))
            sha256.update(record.framed)
            for n in record.kinds:
                counts[n] += 1
    if plain.after:
        flows = {**plain.flows, "extra": [headers.decode() for headers in extra]}
        with _opened(file.with_suffix(".flows")) as beside:
            beside.write(json.dumps(flows).encode())
    hidden = plain.hidden(secrets)
    text = "" if hidden is workload else hidden.digest(run, block, records)[0]
    return Stream(
        records=records,
        sha256=text or sha256.hexdigest(),
        kinds={
            label: StreamKind(
                share=share,
                records=counts[n],
                request=plain.first[label][0],
                after=plain.after.get(label),
                think_s=plain.thinks.get(label),
            )
            for n, (label, share) in enumerate(workload.shares.items())
        },
    )


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _extra(request: Request, driver: Driver, root: str) -> bytes:
    """Return the headers that depend on the trial."""
    given = {name.lower() for name in request.headers}
    lines = [] if "host" in given else [f"Host: {urlsplit(root).netloc}\r\n"]
    if driver.load().keep_alive is False and "connection" not in given:
        lines.append("Connection: close\r\n")
    return "".join(lines).encode()
