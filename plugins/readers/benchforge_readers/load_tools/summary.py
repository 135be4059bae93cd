"""The text of hey, which oha prints alike: times of a summary, then percentiles."""

from collections.abc import Callable

from benchforge.plugin import Fact
from benchforge_readers.printed import Block, number

_TIMES = {"duration": "Total", "max": "Slowest", "min": "Fastest", "mean": "Average"}


def summary_of(block: Block, time: str, parse: Callable[[str, str, str], Fact]) -> dict[str, Fact]:
    """Return duration, rate and times of a summary.

    `time` is the pattern of a time, and `parse` makes a fact of its text, name and place. Raises
    ValueError where the duration or the rate is missing.
    """
    facts: dict[str, Fact] = {}
    for name, words in _TIMES.items():
        if (hit := block.find(rf"\s*{words}:\s+{time}")) and "NaN" not in hit[0][1]:
            facts[name] = parse(hit[0][1], words, hit[1])
    if hit := block.find(r"\s*Requests/sec:\s+(\S{1,20})"):
        facts["rate"] = number(hit[0][1], "Requests/sec", "1/s", origin=hit[1])
    if "duration" not in facts or "rate" not in facts:
        raise ValueError(f"line {block.first}: no lines 'Total:' and 'Requests/sec:' below it")
    for match, where in block.all(rf"\s*(\d{{1,2}}(?:\.\d{{1,3}})?)%{{1,2}} in\s+{time}"):
        name = f"p{float(match[1]):g}"
        # A second list, of oha, has the time to the first byte.
        if name not in facts and float(match[1]) > 0 and "NaN" not in match[2]:
            facts[name] = parse(match[2], f"{match[1]}%", where)
    return facts
