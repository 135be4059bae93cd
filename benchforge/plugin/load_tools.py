"""The bases of load tools that print."""

from benchforge.parts.load_tool import (
    BAD,
    Amount,
    Count,
    Printing,
    Program,
    Seconds,
    Timed,
    ToolJson,
    WholeSeconds,
    agree,
    counted,
    ended_well,
    growing,
    headers,
    lasted,
    line,
    numbers,
    only_get,
    optional,
    parsing,
    require,
)

# Load tools: bases of load tools that print.
__all__ = ["Printing", "Program", "Timed", "ToolJson"]
# Numbers of load tools: types of options and of printed numbers.
__all__ += ["BAD", "Amount", "Count", "Seconds", "WholeSeconds"]
# Printed text: functions that read what a tool printed.
__all__ += ["counted", "line", "numbers", "optional", "parsing"]
# Contradictions: functions that refuse what cannot be true.
__all__ += ["agree", "ended_well", "growing", "lasted", "require"]
# Requests of load tools: arguments for a request.
__all__ += ["headers", "only_get"]
