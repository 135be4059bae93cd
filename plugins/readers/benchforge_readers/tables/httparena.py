"""HttpArena: the files below `site/data`, one for each profile and number of connections."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.document import field, has, items, json_of, take, word
from benchforge_readers.load_tools.wrk import CORRECTED
from benchforge_readers.printed import BINARY, given, number, quantity, seconds

_SEVERAL = ("h2", "h3", "grpc", "gateway", "production")
"Profiles of HTTP/2 and HTTP/3: their scripts send 32 to 100 requests at once on a connection."
_WRK = ("static", "json-tls")
"Profiles whose load tool is wrk, by scripts/lib/profiles.sh."
_NEAR = 0.1
_PROFILE = re.compile(r"([a-z0-9-]{2,40})-(\d{1,6})\.json")


class HttparenaReader(Reader):
    """A file below `site/data` of HttpArena.

    Good to know:

    - The name of the file has the profile, which says whether a connection may have several
      requests under way. Without it, Little's law cannot be checked.
    - `rps` is the number of 2xx responses in the measured time; `duration` is the set one.
    - In the profiles `stream-grpc`, `rps` counts messages and `status_2xx` counts calls.
    """

    name: ClassVar[str] = "httparena"

    def claims(self, head: str) -> bool:
        listed = head.lstrip().startswith("[")
        return listed and has(head, "framework", "rps", "avg_latency", "p99_latency")

    def rows(self, source: Source) -> Iterator[Row]:
        match = _PROFILE.search(source.name.replace("\\", "/").rpartition("/")[2])
        profile = match[1] if match else ""
        table = match[0].removesuffix(".json") if match else "rows"
        document = json_of(source)
        rows = items({"rows": document if isinstance(document, list) else [document]}, "rows")
        for index, result in enumerate(rows):
            where = f"{index}"
            if not isinstance(result, dict):
                raise ValueError(f"{index}: {type(result).__name__}, not a table")  # noqa: TRY004 - of foreign data
            name = word(result.get("framework"), f"row {index + 1}")
            yield Row(name, _facts(result, profile, where), where, table)


def _facts(result: dict[str, Any], profile: str, where: str) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    messages = profile.startswith("stream-grpc")
    take(facts, "message_rate" if messages else "rate", result, "rps", unit="1/s", step=1.0)
    take(facts, "connections", result, "connections")
    if profile and not any(word_ in profile for word_ in _SEVERAL):
        take(facts, "pipeline", result, "pipeline")
    corrected = CORRECTED if profile in _WRK else ""
    for name, path in (("mean", "avg_latency"), ("p99", "p99_latency")):
        text = field(result, path)
        if isinstance(text, str) and text.strip(" -"):
            time = seconds(text, f"{where}.{path}")
            facts[name] = Fact(time.value, "s", time.resolution, corrected, f"{where}.{path}")
    if isinstance(text := result.get("duration"), str) and text:
        time = seconds(text, f"{where}.duration")
        facts["duration"] = Fact(time.value, "s", 0.0, "asked", f"{where}.duration")
    if isinstance(text := result.get("cpu"), str) and text.endswith("%"):
        used = number(text[:-1], f"{where}.cpu", "cores", 0.01)
        facts["cpu"] = Fact(used.value, "cores", used.resolution, "", f"{where}.cpu")
    if isinstance(text := result.get("bandwidth"), str) and text not in {"", "0"}:
        per = quantity(text.removesuffix("/s"), f"{where}.bandwidth", BINARY, "B/s")
        facts["byte_rate"] = Fact(per.value, "B/s", per.resolution, "", f"{where}.bandwidth")
    if not messages:
        _responses(facts, result, where)
    facts["protocol"] = Fact("WebSocket" if "ws" in profile.split("-") else "HTTP", origin="file")
    facts["loop"] = Fact("closed", origin="HttpArena's load tools are closed loops")
    if not messages and not float(facts["rate"].value if "rate" in facts else 0):
        facts = {name: fact for name, fact in facts.items() if name not in {"mean", "p99"}}
    return facts


def _responses(facts: dict[str, Fact], result: dict[str, Any], where: str) -> None:
    """Add the responses that the rate counts: those of 2xx, and in older rows all."""
    classes = dict.fromkeys(("2xx", "3xx", "4xx", "5xx"), 0.0)
    for name in classes:
        if (count := given(result.get(f"status_{name}"), f"{where}.status_{name}")) is not None:
            classes[name] = float(count.value)
    total, right = sum(classes.values()), classes["2xx"]
    bad = classes["4xx"] + classes["5xx"]
    timed = {"rate", "duration"} <= facts.keys()
    counted = float(facts["rate"].value) * float(facts["duration"].value) if timed else 0.0
    of_all = abs(total - counted) < _NEAR * total < abs(right - counted)
    facts["requests"] = Fact(total if of_all else right, origin=f"{where}.status_2xx")
    facts["failed" if of_all else "left_out"] = Fact(bad, origin=f"{where}.status_5xx")
    facts.setdefault("lost", Fact(0.0, origin=f"{where}.status_5xx"))
