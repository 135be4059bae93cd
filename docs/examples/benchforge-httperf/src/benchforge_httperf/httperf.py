"""httperf: connections that are opened at a fixed rate, or one after the other."""

from typing import ClassVar, Self
from urllib.parse import urlsplit

from pydantic import PositiveInt

from benchforge.plugin import BenchforgeError, Command, Duration, Rate, Reading, Target
from benchforge.plugin.load_tools import Printing, counted, numbers, require

PRINTED = """\
Total: connections # requests # replies # test-duration # s
Reply size [B]: header # content # footer # (total #)
Reply status: 1xx=# 2xx=# 3xx=# 4xx=# 5xx=#
Errors: total # client-timo # socket-timo # connrefused # connreset #
Errors: fd-unavail # addrunavail # ftab-full # other #"""


class Httperf(Printing):
    """httperf 0.9, with at most 1024 open files. It takes a truncated body as a good reply."""

    name: ClassVar[str] = "httperf"
    sleeps: ClassVar[bool] = False
    num_conns: PositiveInt = 1000
    "Total number of connections."
    num_calls: PositiveInt = 1
    "Number of calls on each connection; 1 if the server closes connections."
    rate: Rate | None = None
    "Number of connections per second. Default: one connection after the other."
    timeout: Duration = Duration(5)
    "Time limit of a connection, a request or a reply without progress."

    def commands(self, target: Target) -> list[Command]:
        url, request = urlsplit(target.url), target.request
        if url.scheme != "http" or request.headers or request.body is not None:
            raise BenchforgeError("httperf: plain HTTP without headers or a body only", "use pace")
        server = ("--hog", "--server", url.hostname, "--port", url.port or 80)
        call = ("--uri", target.url.removeprefix(target.root), "--method", request.method)
        load = ("--num-conns", self.num_conns, "--num-calls", self.num_calls)
        limits = ("--timeout", self.timeout, *(("--rate", self.rate) if self.rate else ()))
        return [Command(target.programs["httperf"], *server, *call, *load, *limits)]

    def reading(self, text: str) -> Reading:
        (opened, sent, replies, seconds), sizes, codes, errors, others = numbers(text, PRINTED)
        total, late, stalled, refused, reset = errors
        lost = {"timeout": late + stalled, "connect": refused, "reset": reset, "other": others[3]}
        statuses = dict(zip((f"{n}xx" for n in range(1, 6)), codes, strict=True))
        require(not sum(others[:3]), f"{sum(others[:3])} connections lacked a descriptor or a port")
        require(sum(codes) == replies and sum(lost.values()) == total, "parts are not their total")
        require(replies <= sent <= replies + total, f"{replies} replies to {sent} requests")
        require(opened == self.num_conns, f"{opened} connections")
        _, body, _, size = (round(mean * replies) for mean in sizes)
        length = {"received_bytes": size, "body_bytes": body, "byte_error": replies // 10 + 1}
        return counted(seconds, statuses, lost, defects=("httperf:cut-bodies-are-good",), **length)

    def declared_s(self) -> float:
        return self.num_conns / (self.rate or 1000)

    def for_warm_up(self, seconds: float) -> Self:
        return self.model_copy(update={"num_conns": round(seconds * (self.rate or 1000))})
