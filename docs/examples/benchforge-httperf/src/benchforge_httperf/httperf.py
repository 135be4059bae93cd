"""httperf: connections that are opened at a fixed rate, or one after the other."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self
from urllib.parse import urlsplit

from pydantic import PositiveInt

from benchforge.plugin import (
    BenchforgeError,
    Command,
    Duration,
    Load,
    Loader,
    Need,
    Output,
    OutputDamaged,
    Rate,
    Reading,
    Schedule,
    Site,
    Target,
)

# For estimates only: what is done in a second when no rate says it.
CALLS_PER_SECOND = 1000
# httperf rounds its two times to 0.1 ms each: below this their sum says nothing.
SMALLEST_MS = 1.0
# Four numbers with one digit each.
SIZE_ROUNDING = 0.25


class Httperf(Loader):
    """httperf 0.9: each connection sends its next call after the last reply.

    Good to know:

    - Without `rate` there is one connection at a time. With `rate`, httperf opens that many
      connections per second, independent of the replies. The calls per second are `rate` times
      `num_calls`.
    - httperf is one process that takes a whole CPU. It cannot have more than 1024 open files
      (FD_SETSIZE): if a rate needs more concurrent connections, the trial fails.
    - A server that closes its connections needs `num_calls = 1`. Further calls are errors,
      `reset`.
    - httperf takes a truncated body as a good reply.
    - Times count from the real send, without connecting, and are means rounded to 0.1 ms. There
      are no percentiles, and below 1 ms there is no mean.
    """

    name: ClassVar[str] = "httperf"
    sleeps: ClassVar[bool] = False

    num_conns: PositiveInt = 1000
    "Total number of connections."
    num_calls: PositiveInt = 1
    "Number of calls on each connection."
    rate: Rate | None = None
    "Number of connections per second. Default: one connection after the other."
    timeout: Duration = Duration(5)
    "Time limit of a connection, a request or a reply without progress."

    def needs(self) -> Iterable[Need]:
        """Return httperf."""
        return [Need("httperf", debian="httperf")]

    def version(self, site: Site) -> Command:
        """Return `httperf --version`."""
        return Command(site.programs["httperf"], "--version")

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for https and for a request with a body."""
        url = urlsplit(target.url)
        if url.scheme != "http" or target.request.body is not None:
            raise BenchforgeError("httperf: plain HTTP without a body only", 'use = "pace" does it')
        headers = target.request.headers
        # It reads escapes in headers: \n is the end of one.
        lines = (f"{k}: {v}".replace("\\", r"\\") + r"\n" for k, v in headers.items())
        return [
            Command(
                *(target.programs["httperf"], "--hog"),
                *("--server", url.hostname, "--port", url.port or 80),
                *("--uri", "/" + target.url.split("/", 3)[3]),
                *("--method", target.request.method, "--timeout", self.timeout),
                *("--num-conns", self.num_conns, "--num-calls", self.num_calls),
                *([] if self.rate is None else ["--rate", self.rate]),
                *(["--no-host-hdr"] if "host" in map(str.lower, headers) else []),
                *(word for line in lines for word in ("--add-header", line)),
            )
        ]

    def read(self, output: Output) -> Reading:
        """Return what httperf printed. Raises OutputDamaged when it is not whole or cannot be."""
        if output.code:
            raise OutputDamaged(f"httperf: exit code {output.code}", "see what it printed")
        try:
            return self._reading(output.stdout)
        except ValueError as error:
            hint = "see what httperf printed beside the trial"
            raise OutputDamaged(f"httperf: {error}", hint) from None

    def load(self) -> Load:
        """Return what it is told to do."""
        return super().load().model_copy(update={"protocol": "HTTP/1.1"})

    def declared_s(self) -> float:
        """Return how long the connections take to be opened, in seconds; a guess without a rate."""
        if self.rate is not None:
            return self.num_conns / self.rate
        return self.num_conns * self.num_calls / CALLS_PER_SECOND

    def for_warm_up(self, seconds: float) -> Self:
        """Return the same load for so many seconds; a guess without a rate."""
        per_second = self.rate or CALLS_PER_SECOND / self.num_calls
        return self.model_copy(update={"num_conns": max(1, math.ceil(seconds * per_second))})

    def _reading(self, text: str) -> Reading:
        connections, requests, replies, seconds = _line(
            text, r"Total: connections # requests # replies # test-duration # s"
        )
        rate, _, _ = _line(
            text, r"Connection rate: # conn/s \(# ms/conn, <=# concurrent connections\)"
        )
        response_ms, transfer_ms = _line(text, r"Reply time \[ms\]: response # transfer #")
        head, content, foot, whole = _line(
            text, r"Reply size \[B\]: header # content # footer # \(total #\)"
        )
        statuses = _line(text, r"Reply status: 1xx=# 2xx=# 3xx=# 4xx=# 5xx=#")
        total, late, socket_late, refused, reset = _line(
            text, r"Errors: total # client-timo # socket-timo # connrefused # connreset #"
        )
        *lacking, other = _line(text, r"Errors: fd-unavail # addrunavail # ftab-full # other #")
        asked = self.num_conns * self.num_calls
        if not seconds:
            raise ValueError(f"no time in which anything happened: {refused:g} refused")
        if any(lacking):
            raise ValueError(f"{sum(lacking):g} connections lacked a descriptor or a port of ours")
        if abs(head + content + foot - whole) > SIZE_ROUNDING:
            raise ValueError("the parts of 'Reply size' are not the total")
        if sum(statuses) != replies or total != late + socket_late + refused + reset + other:
            raise ValueError("the parts of 'Reply status' or 'Errors' are not the total")
        if not replies <= requests <= replies + total or replies + total > asked:
            raise ValueError(f"{replies:g} replies to {requests:g} requests in {seconds} s")
        if connections != self.num_conns or (not total and replies != asked):
            raise ValueError(f"{connections:g} connections, {replies:g} replies, asked: {asked}")
        good, mean_ms = int(statuses[1] + statuses[2]), response_ms + transfer_ms
        # Seconds are rounded to 1 ms, the rate to 0.1.
        if abs(connections - rate * seconds) > rate * 0.0005 + seconds * 0.05 + 1:
            raise ValueError(f"{rate} connections per second in {seconds} s are no {connections:g}")
        if mean_ms > seconds * 1000 + 1:
            raise ValueError(f"a reply took {mean_ms} ms, the whole load {seconds} s")
        return Reading(
            seconds=seconds,
            responses=int(replies),
            good_at_least=good,
            good_at_most=good,
            # It prints 1xx to 5xx: what is no 2xx is no 200.
            statuses={f"{kind}xx": int(count) for kind, count in enumerate(statuses, 1)},
            body_bytes=round(content * replies),
            received_bytes=round((head + content + foot) * replies),
            byte_error=math.ceil(0.1 * replies),
            errors={
                "status": int(statuses[3] + statuses[4]),
                "timeout": int(late + socket_late),
                "connect": int(refused),
                "reset": int(reset),
                "other": int(other),
            },
            unanswered=int(total),
            mean_us=mean_ms * 1000 if replies and mean_ms >= SMALLEST_MS else None,
            # Those that are late may have waited to be connected: then nobody knows.
            connections=None if late else int(connections - refused),
            schedule=self._schedule(int(requests)),
            printed={"reply_ms": {"response": response_ms, "transfer": transfer_ms}},
            defects=("httperf:100us-rounding", "httperf:cut-bodies-are-good"),
        )

    def _schedule(self, requests: int) -> Schedule | None:
        """Return how the rate was kept; on a connection only the first call has a time."""
        if self.rate is None or self.num_calls > 1:
            return None
        return Schedule(rate=self.rate, intended=self.num_conns, sent=requests)


def _line(text: str, form: str) -> list[float]:
    """Return the numbers of the one line of a form, each a #. Raises ValueError without it."""
    found = re.findall(f"^{form}$".replace("#", r"(\d+(?:\.\d+)?)"), text, re.MULTILINE)
    if len(found) != 1:
        raise ValueError(
            f"{'no' if not found else 'more than one'} line {form.split('#', maxsplit=1)[0]!r}"
        )
    return [float(number) for number in found[0]]
