"""The bases of load tools that print."""

from benchforge.parts.load_tool.printed import (
    BAD,
    Amount,
    Count,
    Seconds,
    ToolJson,
    agree,
    growing,
    line,
    optional,
)
from benchforge.parts.load_tool.timed import (
    Timed,
    WholeSeconds,
    ended_well,
    headers,
    lasted,
    only_get,
    parsing,
)

__all__ = [
    "BAD",
    "Amount",
    "Count",
    "Seconds",
    "Timed",
    "ToolJson",
    "WholeSeconds",
    "agree",
    "ended_well",
    "growing",
    "headers",
    "lasted",
    "line",
    "only_get",
    "optional",
    "parsing",
]
