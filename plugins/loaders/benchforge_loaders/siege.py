"""siege: simulated users in threads, one request after another."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt

from benchforge.plugin import Command, Duration, Reading, Request, Site, Target
from benchforge.plugin.load_tools import (
    Amount,
    Count,
    Printing,
    Seconds,
    Timed,
    ToolJson,
    WholeSeconds,
    agree,
    headers,
    only_get,
    require,
)

RC = "siegerc"
URLS = "siege-urls"
_SETTINGS = {"accept-encoding", "user-agent"}
_UNENDED = 1_000_000_000  # siege gives up after so many failures, 1024 by itself


class _Printed(ToolJson):
    transactions: Count
    availability: Amount
    elapsed_time: Seconds
    data_transferred: Amount
    response_time: Amount
    transaction_rate: Amount
    throughput: Amount
    concurrency: Amount
    successful_transactions: Count
    failed_transactions: Count
    longest_transaction: Amount
    shortest_transaction: Amount


class Siege(Printing, Timed):
    """siege 4: each thread sends its next request after the last response.

    Good to know:

    - siege counts its time from the last whole second of the clock, so it ends up to one second
      early. benchforge adds one second: the real duration is between `duration` and that.
    - Its times are rounded to 10 ms and it has no percentiles: benchforge reads no latency from
      it.
    - Responses of status 500 and above and lost requests are one class, `failed`. benchforge
      counts them as unanswered requests. Responses of status 400 to 499 are responses that are not
      good.
    - siege reports no status below 400 and no bytes of heads, so the number of responses with the
      expected status is known only within bounds. A different body shows in `data_transferred`.
    - siege takes a truncated body as a good response. When a server silently closes a connection,
      the last request is good and the next one fails.
    - siege leaks a descriptor for each refused connection, and aborts without descriptors.
    - By default it loads the resources of a page, follows redirects, closes each connection,
      speaks HTTP/1.0 and stops after 1024 failures. benchforge turns all of that off.
    """

    name: ClassVar[str] = "siege"
    ends_on_time: ClassVar[bool] = True

    connections: Annotated[PositiveInt, Field(le=10_000)] = 10
    "Number of concurrent connections, one thread for each."
    timeout: WholeSeconds = Duration(30)
    "Time limit of a socket operation in whole seconds."
    keep_alive: bool = True
    "Reuse of a connection for the next request."

    def version(self, site: Site) -> Command:
        """Return `siege --version`, in a home for its settings; the version goes to stderr."""
        siege = site.programs["siege"]
        return Command(
            *("sh", "-c", 'exec "$0" --version >/dev/null', siege),
            # It calls siege.config, which is beside it where it was unpacked.
            environment={"HOME": str(site.folder), "PATH": f"{siege.parent}:{os.defpath}"},
        )

    def files(self, target: Target) -> Mapping[str, str]:
        """Return all settings: siege then reads none of the user's own."""
        settings = {
            "protocol": "HTTP/1.1",
            "connection": "keep-alive" if self.keep_alive else "close",
            "chunked": "true",
            "accept-encoding": "identity",
            **_declared(target.request, settings=True),
            "parser": "false",
            "follow-location": "false",
            "cache": "false",
            "benchmark": "true",
            "verbose": "false",
            "color": "off",
            "logging": "false",
            "show-logfile": "false",
            "json_output": "true",
            "limit": self.connections,
            "timeout": self.timeout,
            "failures": _UNENDED,
        }
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        return {RC: text, URLS: f"{target.url}\n"}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for anything but GET."""
        only_get("siege", target.request)
        return [
            Command(
                target.programs["siege"],
                *("-R", target.folder / RC, "-b", "-j"),
                *("-c", self.connections, "-t", f"{int(self.duration) + 1}S"),
                *headers(_declared(target.request, settings=False)),
                *("-f", target.folder / URLS),
                environment={"HOME": str(target.folder)},
            )
        ]

    def declared_s(self) -> float:
        """Return the duration that is asked for, in seconds: one more than the option."""
        return float(self.duration) + 1

    def reading(self, text: str) -> Reading:
        json = _Printed.from_json(_document(text))
        good, failed = json.successful_transactions, json.failed_transactions
        # Threads are stopped between counting one and the other.
        sound = good <= json.transactions + self.connections
        require(sound, f"successful_transactions: {good} of {json.transactions}")
        responses = max(good, json.transactions)
        # It drops what is under way at the end, and rounds to 10 ms.
        if json.elapsed_time < float(self.duration) - 0.1:
            raise ValueError(f"elapsed_time: {json.elapsed_time} s, asked were {self.duration}")
        agree("transaction_rate", json.transactions, json.elapsed_time, json.transaction_rate)
        return Reading(
            seconds=json.elapsed_time,
            responses=responses,
            good_at_least=good,
            good_at_most=good,
            errors={"status": responses - good, "failed": failed},
            unanswered=failed,
            # Printed as mebibytes with two digits.
            body_bytes=round(json.data_transferred * 1024**2),
            byte_error=math.ceil(0.005 * 1024**2),
            printed=json.model_dump(),
            # Whether a body was cut is not told: it may have been.
            defects=("siege:10ms-resolution", "siege:cut-bodies-are-good"),
        )


def _document(text: str) -> str:
    match = re.search(r"^\{.*", text, re.MULTILINE | re.DOTALL)
    if not match:
        raise ValueError("no JSON")
    return match[0]


def _declared(request: Request, *, settings: bool) -> dict[str, str]:
    """Return the headers that siege takes as settings, or the others.

    It sends an Accept of its own unless that is the first of the others.
    """
    named = sorted(request.headers.items(), key=lambda header: header[0].lower() != "accept")
    declared = {(name.lower() if settings else name): value for name, value in named}
    return {key: value for key, value in declared.items() if (key.lower() in _SETTINGS) == settings}
