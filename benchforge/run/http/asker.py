"""Send a request at random moments, and record what comes back: asker.py PLAN.

Run by its path. PLAN is JSON. It waits for the file `request` in the plan's folder, and sends it as
it is; on SIGTERM it writes `record.json`, and a body of each kind. It asks on one connection at a
time, so it holds one worker of a server at most; a moment that comes meanwhile is left out. Over
HTTP/2 each second moment is on a connection that is held open, older than those of the load.
"""
# ruff: noqa: PTH104, PTH110, PTH118, PTH123 - without pathlib, whose import takes long

from __future__ import annotations

import bisect
import contextlib
import hashlib
import importlib
import itertools
import json
import os
import random
import signal
import socket
import ssl
import sys
import time
from functools import partial
from http.client import HTTPException
from types import SimpleNamespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

REQUEST, RECORD = "request", "record.json"
LOOK_S = 0.01
FIRST_GUESS_S = 0.001  # of a response time, until there is one
DEPTH, DEEP, DEEP_EVERY = 2, 8, 8  # requests on a connection; more on one connection in eight
STREAMS, STREAM_WITHIN_S = 400, 1.0  # before the load, on the connection that is held open
MOST_MOMENTS, MOST_KINDS = 20_000, 1000
MOST_BODY, MOST_BODIES = 1 << 20, 8 << 20  # bytes that are kept, of a body and of all
MOST_ANSWER = 64 << 20  # bytes


class Ended(Exception):
    """The load is over."""


class Asker:
    """Sends requests at random moments until `Ended` is raised."""

    def __init__(self, plan: SimpleNamespace) -> None:
        self._plan = plan
        self._random = random.Random(plan.seed)  # noqa: S311 - no secret
        self._request = b""
        self._sends = self._stream()
        self._of = 0
        self._answer: Any = None
        self._times: list[float] = []
        self._kept_times: list[float] = []
        self._kinds: dict[tuple[object, ...], int] = {}
        self._bodies: dict[int, bytes] = {}
        self._room = MOST_BODIES
        self._moments: list[tuple[float, list[tuple[int, float]], str]] = []
        self._requests = self._connections = self._streams = 0
        self._cpu_s = self._oldest_s = 0.0
        self._held: Any = None
        self._few = False
        self._each = (DEPTH * (DEEP_EVERY - 1) + DEEP) / DEEP_EVERY
        sys.path += plan.paths
        self._bounded: Any = importlib.import_module("bounded")
        self._http2: Any = importlib.import_module("http2") if plan.http2 else None
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._tls.check_hostname = False  # the probes check the certificate
        self._tls.verify_mode = ssl.CERT_NONE
        if plan.http2:
            self._tls.set_alpn_protocols(["h2"])

    def run(self) -> None:
        """Wait for the request, then send it again and again."""
        path = os.path.join(self._plan.folder, REQUEST)
        if self._plan.aging:
            self._age(self._plan.aging.encode("latin-1"), path)
        while not os.path.exists(path):
            time.sleep(LOOK_S)
        with open(path, "rb") as file:
            self._request = file.read()
        self._connections, self._cpu_s = 0, -time.process_time()
        begun = time.monotonic()
        for moment_s in self._schedule():
            left_s = begun + moment_s - time.monotonic()
            if left_s < 0:  # an answer was outstanding
                continue
            time.sleep(left_s)
            at_s, reason = time.monotonic() - begun, "the load ended first"
            answers: list[tuple[int, float]] = []
            try:
                reason = self._ask(answers)
            finally:
                self._moments.append((at_s, answers, "" if answers else reason))

    def _age(self, request: bytes, path: str) -> None:
        """Send a request on the held connection again and again, until the load begins."""
        with contextlib.suppress(OSError, HTTPException):
            self._held = self._connected()
            end, streams = self._held.end, self._held.streams
            while streams.keeps and streams.answers < STREAMS and not os.path.exists(path):
                end.renew(time.monotonic() + STREAM_WITHIN_S)
                streams.answer(request)

    def _schedule(self) -> Iterator[float]:
        """Yield moments, in seconds: a random one in each piece of time, of 1/rate each.

        All times are as likely, as for Poisson arrivals, and no load of a few pieces has none. The
        number of wrong moments varies less than that of independent ones (Hoeffding 1956).
        """
        end_s = 0.0
        while True:
            begin_s, end_s = end_s, end_s + 1 / self._rate()
            yield self._random.uniform(begin_s, end_s)

    def _rate(self) -> float:
        plan = self._plan
        most = min(plan.rate, MOST_MOMENTS / plan.declared_s)
        if plan.share is None:
            return float(most)
        times = self._kept_times or self._times
        seconds = times[len(times) // 2] if times else FIRST_GUESS_S
        # Of a closed loop by Little's law: each of its connections waits as long as we do.
        closed = plan.concurrency / (seconds + plan.think_s)
        of_load = plan.share * (plan.load_rate or closed) / self._each
        least = plan.least / plan.declared_s
        self._few = of_load < least
        return float(min(most, max(least, of_load)))

    def _depth(self) -> int:
        """Return how many requests the next connection carries: fewer under a small load."""
        number = self._random.randrange(DEEP_EVERY)
        if self._few:
            return 1 + number % DEPTH
        return DEPTH if number else DEEP

    def _ask(self, answers: list[tuple[int, float]]) -> str:
        """Add what is answered at a moment; return why there is no more."""
        begun, lasts = time.monotonic(), bool(self._http2) and len(self._moments) % 2 == 1
        is_old = bool(lasts and self._held and self._held.streams.keeps)
        try:
            connection = self._held if is_old else self._connected()
            self._held = connection if lasts else self._held
            with contextlib.nullcontext() if lasts else connection.end:
                self._exchange(connection, answers, begun)
        except TimeoutError:
            return f"no answer within {self._plan.within_s:g} s"
        except (OSError, HTTPException) as error:
            if is_old and isinstance(error, self._http2.Unprocessed | ConnectionError):
                return self._ask(answers)  # the server ended the held connection before
            return getattr(error, "strerror", "") or str(error) or type(error).__name__
        return ""

    def _exchange(self, connection: Any, answers: list[tuple[int, float]], begun: float) -> None:
        is_held = connection is self._held
        for request in itertools.islice(self._sends, self._depth()):
            self._answer = None
            self._requests += 1
            connection.end.renew(begun + self._plan.within_s)
            self._answer = answer = connection.send(request)
            ended = time.monotonic()
            bisect.insort(self._kept_times if answers or is_held else self._times, ended - begun)
            answers.append((self._kind(answer), ended - begun))
            if is_held:
                self._streams = max(self._streams, connection.streams.answers)
                self._oldest_s = max(self._oldest_s, ended - connection.begun)
            if not answer.keeps:
                break
            begun = ended

    def _connected(self) -> Any:
        """Return a connection whose answers have a deadline and a size, and what sends on it."""
        plan, deadline = self._plan, time.monotonic() + self._plan.within_s
        plain = socket.create_connection((plan.host, plan.port), plan.within_s)
        self._connections += 1
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bounds = plain, deadline, MOST_ANSWER
        if plan.tls:
            end = self._bounded.BoundedTLS(*bounds, self._tls, plan.host)
            end.agree()
        else:
            end = self._bounded.BoundedSocket(*bounds)
        send, streams = partial(self._bounded.exchanged, end), None
        if self._http2 is not None:
            streams = self._http2.Http2(end.sendall, end.received, plan.http2)
            send = streams.answer
        return SimpleNamespace(end=end, send=send, streams=streams, begun=time.monotonic())

    def _stream(self) -> Iterator[bytes]:
        """Yield what is sent; for a mix `_of` is its number, and `_answer` the last answer."""
        while True:
            yield self._request

    def _kind(self, answer: Any) -> int:
        """Return the number of a kind of answer; beyond the most, bodies do not matter."""
        sha256, length = hashlib.sha256(answer.body).hexdigest(), len(answer.body)
        fields = {name.lower(): value for name, value in answer.lines}
        type_ = fields.get("content-type", "")[:200]
        encoding = fields.get("content-encoding", "").lower()[:20]
        key = (self._of, answer.status, type_, encoding, length, sha256)
        if key not in self._kinds and len(self._kinds) >= MOST_KINDS:
            key = (self._of, answer.status, "", "", 0, "")
        number = self._kinds.setdefault(key, len(self._kinds))
        new = number not in self._bodies and number == len(self._kinds) - 1
        if new and key[-1] and length <= min(MOST_BODY, self._room):
            self._room -= length
            self._bodies[number] = answer.body
        return number

    def write(self) -> None:
        """Write the record and the bodies."""
        cpu_s = self._cpu_s + time.process_time() if self._request else 0.0
        for number, body in self._bodies.items():
            with open(os.path.join(self._plan.folder, f"body-{number}"), "wb") as file:
                file.write(body)
        names = ("of", "status", "content_type", "encoding", "length", "sha256", "kept")
        rows = ((*key, number in self._bodies) for key, number in self._kinds.items())
        kinds = [dict(zip(names, row, strict=True)) for row in rows]
        record = {
            "requests": self._requests,
            "connections": self._connections,
            "cpu_s": max(0.0, cpu_s),
            "kinds": kinds,
            "moments": self._moments,
            "streams": self._streams,
            "oldest_s": self._oldest_s,
        }
        path = os.path.join(self._plan.folder, RECORD)
        with open(f"{path}.half", "w") as text:
            json.dump(record, text, separators=(",", ":"))
        os.rename(f"{path}.half", path)


def _end(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended


def main(kind: type[Asker] = Asker) -> None:
    """Ask until SIGTERM."""
    with open(sys.argv[1], "rb") as file:
        asker = kind(SimpleNamespace(**json.load(file)))
    signal.signal(signal.SIGTERM, _end)
    try:
        asker.run()
    except Ended:
        asker.write()
    os._exit(0)  # at once: the end of a load waits for it


if __name__ == "__main__":
    main()
