"""Ids of checks and names of metrics are data: no rule elsewhere asks for one by its name."""

import ast
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

import pytest

from benchforge.checks.limits import limits
from benchforge.parts.registry import brought

ROOT = Path(__file__).parents[2]
ROOMS = ("benchforge", "plugins/reporters")
"Servers, load tools, clients and backends see no check and no summary."
CHECKS = frozenset(id_ for id_ in limits().by_id if re.fullmatch(r"[A-Z][0-9]+", id_))
METRICS = frozenset(
    point.name.partition("-")[2] for point in brought() if point.name.startswith("metric-")
)

_KERNEL = {"cpu", "memory"}
"Words of /proc, of control groups and of sysfs."
_READING = {"errors", "latency", "lateness", "rate"}
"Fields of a reading and of its schedule, and what a check invalidates."
OF_CHECKS: Mapping[str, AbstractSet[str]] = {
    "benchforge/checks": CHECKS,  # each is asked, and declared in limits.toml, there
    # What each means to a reader, and what to do: tables, and which remedy of a check fits.
    "plugins/reporters/benchforge_reporters/document/explanations.py": CHECKS,
}
"By path: ids that may stand there, each with its reason."
OF_METRICS: Mapping[str, AbstractSet[str]] = {
    "benchforge/suite/declared.py": METRICS,  # the metrics of a suite that declares none
    "benchforge/checks": _KERNEL | _READING,
    "benchforge/model/trial": _READING,
    "benchforge/parts/part.py": {"rate"},  # an option of load tools
    "benchforge/cli/measure/duel": {"rate"},  # the same
    # Facts of other tools' results.
    "benchforge/cli/results/audit": {"rate", "wall", "cpu"},
    "benchforge/results/validity": _READING,
    "benchforge/stats/verdict/objections.py": {"latency"},  # what a check invalidates
    "benchforge/stats/turns.py": {"latency"},  # a field of a reading
    "benchforge/stats/summary/summarize.py": {"latency"},  # a field of a comparison
    "benchforge/results/verify/recompute/trials.py": {"rate"},  # of a load
    "benchforge/model/files/result.py": _KERNEL,
    "benchforge/run": _KERNEL | {"rate"},
    "benchforge/suite": {"rate"},  # an option of load tools, and of [find]
    "benchforge/suite/measuring/tables.py": {"cpu"},  # a controller
    "benchforge/cli/plugins": _READING,
    "benchforge/remote": {"cpu", "rate"},  # a fact of a host, and an option of load tools
    "benchforge/cli/machine/doctor": _KERNEL,
    "plugins/reporters/benchforge_reporters/text/words.py": {"cpu"},  # a fact of the machine
    "plugins/reporters/benchforge_reporters/document/document.py": {"cpu"},  # the same
    "plugins/reporters/benchforge_reporters/csv.py": {"rate"},  # a column of searches.csv
    "benchforge/report/junit_xml.py": {"errors"},  # an attribute of JUnit's
}
"By path: names of metrics that may stand there, as the word for something else."


def literals(text: str, words: AbstractSet[str]) -> Iterator[tuple[int, str]]:
    """Yield the line of each string that is one of some words; docstrings are none."""
    docstrings = set()
    for node in ast.walk(ast.parse(text)):  # from outside to inside
        if isinstance(node, ast.Expr):
            docstrings.add(node.value)
        elif isinstance(node, ast.Constant) and node.value in words and node not in docstrings:
            yield node.lineno, str(node.value)


@cache
def places() -> list[tuple[str, int, str]]:
    files = sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))
    return [
        (str(file.relative_to(ROOT)), line, word)
        for file in files
        for line, word in literals(file.read_text(encoding="utf-8"), CHECKS | METRICS)
    ]


def elsewhere(words: frozenset[str], allowed: Mapping[str, AbstractSet[str]]) -> list[str]:
    lines = []
    for path, line, word in places():
        parts = [part for top, part in allowed.items() if f"{path}/".startswith(f"{top}/")]
        lines += [f"{path}:{line}: {word}"] if word in words.difference(*parts) else []
    return lines


def test_no_room_but_the_checks_knows_an_id() -> None:
    hint = "give the check a topic in benchforge/checks/limits.toml, and ask for that"
    assert not (wrong := elsewhere(CHECKS, OF_CHECKS)), "\n".join([hint, *wrong])


def test_nobody_asks_for_a_metric_by_its_name() -> None:
    hint = "ask for the measurand that the metric declares: anybody may bring such a metric"
    assert not (wrong := elsewhere(METRICS, OF_METRICS)), "\n".join([hint, *wrong])


@pytest.mark.parametrize("where", [*OF_CHECKS, *OF_METRICS])
def test_each_exception_is_needed(where: str) -> None:
    words, allowed = (CHECKS, OF_CHECKS) if where in OF_CHECKS else (METRICS, OF_METRICS)
    assert elsewhere(words, {path: part for path, part in allowed.items() if path != where})


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('_WORST = "S4"', 1),
        ('x = [one for one in y if one.id == "N1"]', 1),
        ('NAMES = {"N1": 1}', 1),
        ('x = 1\n"N1"', 0),  # a docstring
    ],
)
def test_a_literal_is_seen_wherever_it_stands(text: str, count: int) -> None:
    assert len(list(literals(text, CHECKS))) == count


def test_there_are_ids_and_names() -> None:
    assert {"E2", "N1", "S4"} <= CHECKS
    assert {"errors", "error_rate", "latency", "throughput"} <= METRICS
