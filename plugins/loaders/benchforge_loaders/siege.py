"""siege: simulated users in threads, one request after another."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt

from benchforge.plugin import (
    Command,
    Duration,
    Need,
    Output,
    OutputDamaged,
    Reading,
    Site,
    Target,
    hookimpl,
)
from benchforge_loaders.printed import Amount, Count, Printed, Seconds, agree
from benchforge_loaders.timed import Timed, WholeSeconds, ended_well, headers, only_get

RC = "siegerc"
_UNENDED = 1_000_000_000  # siege gives up after so many failures, 1024 by itself


class _Printed(Printed):
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


class Siege(Timed):
    """siege 4: each of so many threads sends its next request when the last one is answered.

    Good to know:

    - It counts its time from the last whole second of the clock, so that it ends up to a second
      early: one more is asked for here, and the real duration is between `duration` and that.
    - Its times are rounded to 10 ms and it has no percentiles: no latency is read from it.
    - Pages of status 500 and more and requests that were lost are one class, `failed`: here they
      are unanswered requests. Those of status 400 to 499 are responses that are not good.
    - A body cut short is a good response to it. When a server closes a connection without saying
      so, the request before was good and the next one fails.
    - It leaks a descriptor for each connection that is refused, and aborts when it has none left.
    - By itself it fetches what a page refers to, follows redirects, closes each connection, speaks
      HTTP/1.0 and gives up after 1024 failures: all that is switched off here.
    """

    name: ClassVar[str] = "siege"

    connections: Annotated[PositiveInt, Field(le=10_000)] = 10
    "That are open at once, a thread for each."
    timeout: WholeSeconds = Duration(30)
    "Whole seconds that it waits for a socket."
    keep_alive: bool = True
    "Whether a connection is used for the next request."

    def needs(self) -> Iterable[Need]:
        """Return siege."""
        return [Need("siege", debian="siege")]

    def version(self, site: Site) -> Command:
        """Return `siege --version`, in a home of its own, where it writes settings.

        It tells that on stdout, and the version on stderr.
        """
        return Command(
            *("sh", "-c", 'exec "$0" --version >/dev/null', site.programs["siege"]),
            environment={"HOME": str(site.folder)},
        )

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the settings, each of them: the user's own are not read."""
        settings = {
            "protocol": "HTTP/1.1",
            "connection": "keep-alive" if self.keep_alive else "close",
            "chunked": "true",
            "accept-encoding": "identity",
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
        return {RC: "".join(f"{name} = {value}\n" for name, value in settings.items())}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for anything but GET."""
        only_get("siege", target.request)
        return [
            Command(
                target.programs["siege"],
                *("-R", target.folder / RC, "-b", "-j"),
                *("-c", self.connections, "-t", f"{int(self.duration) + 1}S"),
                *headers(target.request.headers),
                target.url,
                environment={"HOME": str(target.folder)},
            )
        ]

    def read(self, output: Output) -> Reading:
        """Return what siege printed.

        Raises OutputDamaged when it failed, when that is not whole, or when it ended early.
        """
        ended_well("siege", output)
        try:
            printed = _Printed.from_json(_document(output.stdout))
            return self._reading(printed)
        except ValueError as error:
            raise OutputDamaged(
                f"siege: {error}", "see what siege printed beside the trial"
            ) from None

    def declared_s(self) -> float:
        """Return the duration that is asked for, in seconds: one more than the option."""
        return float(self.duration) + 1

    def _reading(self, printed: _Printed) -> Reading:
        good, failed = printed.successful_transactions, printed.failed_transactions
        # Threads are stopped between counting one and the other.
        if good > printed.transactions + self.connections:
            raise ValueError(f"successful_transactions: {good} of {printed.transactions}")
        responses = max(good, printed.transactions)
        # It drops what is under way at the end, and rounds to 10 ms.
        if printed.elapsed_time < float(self.duration) - 0.1:
            raise ValueError(f"elapsed_time: {printed.elapsed_time} s, asked were {self.duration}")
        agree(
            "transaction_rate", printed.transactions, printed.elapsed_time, printed.transaction_rate
        )
        return Reading(
            seconds=printed.elapsed_time,
            responses=responses,
            good_at_least=good,
            good_at_most=good,
            errors={"status": responses - good, "failed": failed},
            unanswered=failed,
            claims=printed.model_dump(),
            # Whether a body was cut is not told: it may have been.
            defects=("siege:10ms-resolution", "siege:cut-bodies-are-good"),
        )


def _document(text: str) -> str:
    found = re.search(r"^\{.*", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError("no JSON")
    return found[0]


@hookimpl
def benchforge_parts() -> list[type[Timed]]:
    """Return siege."""
    return [Siege]
