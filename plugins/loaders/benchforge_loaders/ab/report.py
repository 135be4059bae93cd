"""What ab prints at the end, and its file of percentiles: read whole, or not at all."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from pydantic import JsonValue

from benchforge.plugin.load_tools import growing, line

# ab counts in 32 and 64 bits; longer numbers are no numbers of ab.
_WHOLE = r"(\d{1,18})"
_DECIMAL = r"(\d{1,15}\.\d{1,3})"
_CLASSES = rf"   \(Connect: {_WHOLE}, Receive: {_WHOLE}, Length: {_WHOLE}, Exceptions: {_WHOLE}\)"
_TIMES = ("Connect", "Processing", "Waiting", "Total")
_COLUMNS = ("min", "mean", "sd", "median", "max")
_COUNTS = (
    *("Failed requests:", "   (Connect: ", "Write errors:"),
    *("Non-2xx responses:", "Keep-Alive requests:"),
)
_CSV_HEAD = "Percentage served,Time in ms"
# Both numbers of the rate are rounded, and the time to a millisecond.
_TIME_ROUNDING_S = 0.0005
_RATE_TOLERANCE = 0.01


@dataclass(frozen=True)
class AbReport:
    """The report, checked for agreement with itself."""

    software: str
    document_bytes: int | None
    "Body length of the first response; None where lengths may vary."
    concurrency: int
    seconds: float
    complete: int
    failed: int
    connect: int
    receive: int
    length: int
    exceptions: int
    non_2xx: int
    write: int
    kept: int | None
    "Complete requests whose connection stayed open; None without -k."
    transferred: int
    body_bytes: int
    longest_ms: int
    claims: Mapping[str, JsonValue]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the report. Raises ValueError that names the line that is missing or wrong."""
        complete = int(_line(text, "Complete requests", _WHOLE))
        if not complete:
            raise ValueError("ab completed no request")
        failed = int(_line(text, "Failed requests", _WHOLE))
        classes = line(text, "(Connect: ...)", _CLASSES).groups() if failed else (0, 0, 0, 0)
        connect, receive, length, exceptions = map(int, classes)
        if connect + receive + length + exceptions > failed:
            raise ValueError(f"the classes of the {failed} failed requests are more than those")
        seconds = float(_line(text, "Time taken for tests", f"{_DECIMAL} seconds"))
        rate = float(_line(text, "Requests per second", rf"{_DECIMAL} \[#/sec\] \(mean\)"))
        _check_rate(complete, seconds, rate)
        times = {name.lower(): _times(text, name) for name in _TIMES}
        keep_alive_requests = _optional(text, "Keep-Alive requests")
        length_text = _line(text, "Document Length", r"(Variable|\d{1,18} bytes)")
        body_bytes = int(_line(text, "HTML transferred", f"{_WHOLE} bytes"))
        report = cls(
            software=_line(text, "Server Software", r"(.*)"),
            document_bytes=None if length_text == "Variable" else int(length_text.split()[0]),
            concurrency=int(_line(text, "Concurrency Level", _WHOLE)),
            seconds=seconds,
            complete=complete,
            failed=failed,
            connect=connect,
            receive=receive,
            length=length,
            exceptions=exceptions,
            non_2xx=_optional(text, "Non-2xx responses") or 0,
            write=_optional(text, "Write errors") or 0,
            kept=keep_alive_requests,
            transferred=int(_line(text, "Total transferred", f"{_WHOLE} bytes")),
            body_bytes=body_bytes,
            longest_ms=int(times["total"]["max"]),
            claims={
                "requests_per_second": rate,
                **_times_per_request(text),
                "transfer_rate_kbytes_per_second": float(
                    _line(text, "Transfer rate", rf"{_DECIMAL} \[Kbytes/sec\] received")
                ),
                "html_transferred_bytes": body_bytes,
                "failed_requests": failed,
                "keep_alive_requests": keep_alive_requests,
                "connection_times_ms": {name: dict(row) for name, row in times.items()},
            },
        )
        _only_known(text)
        if complete > 1:
            line(text, "100% (longest request)", r" 100% +\d{1,18} \(longest request\)")
        return report


def percentiles_us(text: str, complete: int) -> dict[str, float]:
    """Return the lines of ab's -e file by percent, in microseconds.

    For few requests ab reads past the end of its own times: index 0.5 + N p may be N. Those lines
    are left out. Raises ValueError when the file is not whole.
    """
    lines = text.splitlines()
    if lines[:1] != [_CSV_HEAD]:
        raise ValueError(f"no line {_CSV_HEAD!r}")
    percentiles: dict[str, float] = {}
    for percent in range(101):
        row = lines[percent + 1] if percent + 1 < len(lines) else ""
        is_in_table = percent in {0, 100} or int(0.5 + complete * percent / 100.0) < complete
        match = re.fullmatch(rf"{percent},({_DECIMAL if is_in_table else '.*'})", row)
        if not match:
            raise ValueError(f"no line of {percent} percent")
        if is_in_table:
            percentiles[str(percent)] = round(float(match[1]) * 1000)
    growing("ab -e", percentiles.values())
    return percentiles


def _line(text: str, name: str, pattern: str) -> str:
    value = line(text, name, rf"{re.escape(name)}:(.*)")[1].strip()
    if not (match := re.fullmatch(pattern, value)):
        raise ValueError(f"{name!r}: not what ab prints: {value[:60]!r}")
    return str(match[1])


def _only_known(text: str) -> None:
    """Raise ValueError for a line of counts that is none of ab's: a spoilt one."""
    counts = text.partition("\nComplete requests:")[2].partition("\nTotal transferred:")[0]
    for row in counts.splitlines()[1:]:
        if not row.startswith(_COUNTS):
            raise ValueError(f"{row.strip()!r} is no line of ab's")


def _optional(text: str, name: str) -> int | None:
    return int(_line(text, name, _WHOLE)) if f"\n{name}:" in text else None


def _times(text: str, name: str) -> dict[str, float]:
    row = rf"{name}: +{_WHOLE} +{_WHOLE} +(\d{{1,15}}\.\d) +{_WHOLE} +{_WHOLE}"
    return dict(zip(_COLUMNS, map(float, line(text, name, row).groups()), strict=True))


def _times_per_request(text: str) -> dict[str, JsonValue]:
    kinds = {
        "time_per_request_ms": "mean",
        "time_per_request_across_ms": "mean, across all concurrent requests",
    }
    name, row = "Time per request", rf"Time per request: +{_DECIMAL} \[ms\]"
    return {key: float(line(text, name, rf"{row} \({end}\)")[1]) for key, end in kinds.items()}


def _check_rate(complete: int, seconds: float, rate: float) -> None:
    if seconds <= _TIME_ROUNDING_S:
        raise ValueError(f"'Time taken for tests': {seconds} s is too short for a measurement")
    lowest = complete / (seconds + _TIME_ROUNDING_S) * (1 - _RATE_TOLERANCE)
    highest = complete / (seconds - _TIME_ROUNDING_S) * (1 + _RATE_TOLERANCE)
    if not lowest - 0.01 <= rate <= highest + 0.01:
        raise ValueError(f"'Requests per second': {rate} is not {complete} requests in {seconds} s")
