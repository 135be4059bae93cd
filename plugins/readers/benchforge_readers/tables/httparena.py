"""HttpArena: the files below `site/data`, one for each profile and number of connections."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from benchforge.plugin import Fact, Reader, Row, Source, hookimpl
from benchforge_readers.document import field, has, items, take, word
from benchforge_readers.printed import BINARY, number, quantity, seconds

_SEVERAL = ("h2", "h3", "grpc", "gateway", "production")
"Profiles of HTTP/2 and HTTP/3: their scripts send 32 to 100 requests at once on a connection."
_MESSAGES = "stream-grpc"
_PROFILE = re.compile(r"([a-z0-9-]{2,40})-(\d{1,6})\.json")


class HttparenaReader(Reader):
    """A file below `site/data` of HttpArena.

    Good to know:

    - The name of the file has the profile, which says whether a connection may have several
      requests under way. Without it, Little's law cannot be checked.
    - `rps` is the number of 2xx responses in the measured time; `duration` is the one that was set.
    - In the profiles `stream-grpc`, `rps` counts messages and `status_2xx` counts calls.
    """

    name: ClassVar[str] = "httparena"

    def claims(self, head: str) -> bool:
        """Return True for a list of frameworks with HttpArena's fields."""
        return has(head, "framework", "rps", "avg_latency", "p99_latency")

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each framework."""
        match = _PROFILE.search(source.name.replace("\\", "/").rpartition("/")[2])
        profile = match[1] if match else ""
        table = match[0].removesuffix(".json") if match else "rows"
        document = source.json()
        rows = items({"rows": document if isinstance(document, list) else [document]}, "rows")
        for place, entry in enumerate(rows):
            where = f"{place}"
            if not isinstance(entry, dict):
                raise ValueError(f"{place}: {type(entry).__name__}, not a table")
            name = word(entry.get("framework"), f"row {place + 1}")
            yield Row(name, _facts(entry, profile, where), where, table)


def _facts(entry: dict[str, Any], profile: str, where: str) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    take(facts, "rate", entry, "rps", unit="1/s", step=1.0)
    take(facts, "connections", entry, "connections")
    if profile and not any(entry in profile for entry in _SEVERAL):
        take(facts, "pipeline", entry, "pipeline")
    if not profile.startswith(_MESSAGES):
        take(facts, "requests", entry, "status_2xx")
    for name, path in (("mean", "avg_latency"), ("p99", "p99_latency")):
        text = field(entry, path)
        if isinstance(text, str) and text.strip(" -"):
            entry = seconds(text, f"{where}.{path}")
            facts[name] = Fact(entry.value, "s", entry.resolution, "", f"{where}.{path}")
    if isinstance(text := entry.get("duration"), str) and text:
        entry = seconds(text, f"{where}.duration")
        facts["duration"] = Fact(entry.value, "s", 0.0, "asked", f"{where}.duration")
    if isinstance(text := entry.get("cpu"), str) and text.endswith("%"):
        entry = number(text[:-1], f"{where}.cpu", "cores", 0.01)
        facts["cpu"] = Fact(entry.value, "cores", entry.resolution, "", f"{where}.cpu")
    if isinstance(text := entry.get("bandwidth"), str) and text not in {"", "0"}:
        entry = quantity(text.removesuffix("/s"), f"{where}.bandwidth", BINARY, "B/s")
        facts["byte_rate"] = Fact(entry.value, "B/s", entry.resolution, "", f"{where}.bandwidth")
    bad = 0.0
    for name in ("4xx", "5xx"):
        take(facts, name, entry, f"status_{name}")
        bad += float(facts[name].value) if name in facts else 0.0
    facts["lost"] = Fact(bad, "1", 0.0, "not in the rate", f"{where}.status_4xx")
    facts["protocol"] = Fact("WebSocket" if "ws" in profile.split("-") else "HTTP", origin="file")
    facts["loop"] = Fact("closed", origin="HttpArena's load tools are closed loops")
    if not float(facts["rate"].value if "rate" in facts else 0):
        facts = {name: entry for name, entry in facts.items() if name not in {"mean", "p99"}}
    return facts


@hookimpl
def benchforge_parts() -> list[type[Reader]]:
    """Return the reader of HttpArena."""
    return [HttparenaReader]
