"""The table [tuning]: names that a kernel could know, to the values that are asked for."""

import re

from pydantic import JsonValue

from benchforge.model.tuning import Tuning
from benchforge.suite.complaints import Complaints
from benchforge.suite.document import Tables
from benchforge.suite.faults import nearest

LIMITS = (
    "as",
    "core",
    "cpu",
    "data",
    "fsize",
    "memlock",
    "msgqueue",
    "nice",
    "nofile",
    "nproc",
    "rss",
    "rtprio",
    "rttime",
    "sigpending",
    "stack",
)
"Linux's, as `man setrlimit` writes them behind RLIMIT_."

SYSCTL = r"^[a-z]\w*(\.[\w-]+)+$"


def tuning(tables: Tables, complaints: Complaints) -> Tuning:
    """Return what a suite asks for; complain of names that no kernel can have."""
    table = tables.get("tuning", {})
    if not isinstance(table, dict):
        complaints.at(("tuning",), "expected a table", "write [tuning.sysctl] or [tuning.limits]")
        return Tuning()
    for name, value in _named(table, "sysctl"):
        if isinstance(value, dict):
            hint = 'quote the whole name: "net.core.somaxconn" = 4096'
            complaints.at(("tuning", "sysctl", name), "expected a value, got a table", hint)
        elif not re.fullmatch(SYSCTL, name):
            hint = "it looks like net.core.somaxconn"
            complaints.at(("tuning", "sysctl", name), "not the name of a sysctl", hint)
    for name, _ in _named(table, "limits"):
        if name not in LIMITS:
            hint = nearest(name, LIMITS, "limits")
            complaints.at(("tuning", "limits", name), "unknown limit", hint)
    return complaints.parse(Tuning, table, ("tuning",)) or Tuning()


def _named(table: Tables, key: str) -> list[tuple[str, JsonValue]]:
    named = table.get(key)
    return list(named.items()) if isinstance(named, dict) else []
