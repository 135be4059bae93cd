"""The table [tuning]: names that a kernel could know, to the values that are asked for."""

import re

from benchforge.model.suite.tuning import Tuning
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked

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


def tuning(tables: Tables) -> Checked[Tuning]:
    """Return what a suite asks for: names that no kernel can have are faults."""
    table = tables.get("tuning", {})
    if not isinstance(table, dict):
        yield Fault(("tuning",), "expected a table", "write [tuning.sysctl] or [tuning.limits]")
        return Tuning()
    for name, value in as_table(table.get("sysctl")).items():
        if isinstance(value, dict):
            hint = 'quote the whole name: "net.core.somaxconn" = 4096'
            yield Fault(("tuning", "sysctl", name), "expected a value, got a table", hint)
        elif not re.fullmatch(SYSCTL, name):
            hint = "it looks like net.core.somaxconn"
            yield Fault(("tuning", "sysctl", name), "not the name of a sysctl", hint)
    for name in as_table(table.get("limits")):
        if name not in LIMITS:
            at = ("tuning", "limits", name)
            yield Fault(at, "unknown limit", Nearest(name, LIMITS, "limits"))
    return (yield from checked(Tuning, table, ("tuning",))) or Tuning()
