"""The bases of load tools that print."""

from benchforge.parts.load_tool.printed import (
    BAD,
    Amount,
    Count,
    Seconds,
    ToolJson,
    agree,
    counted,
    growing,
    line,
    numbers,
    optional,
    require,
)
from benchforge.parts.load_tool.timed import (
    Printing,
    Program,
    Timed,
    WholeSeconds,
    ended_well,
    headers,
    lasted,
    only_get,
    parsing,
)

# Load tools: bases of load tools, and functions that read what a tool printed.
__all__ = [
    "BAD",
    "Amount",
    "Count",
    "Printing",
    "Program",
    "Seconds",
    "Timed",
    "ToolJson",
    "WholeSeconds",
    "agree",
    "counted",
    "ended_well",
    "growing",
    "headers",
    "lasted",
    "line",
    "numbers",
    "only_get",
    "optional",
    "parsing",
    "require",
]
