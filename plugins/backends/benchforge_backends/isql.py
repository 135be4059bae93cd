"""isql, Virtuoso's client: what makes its commands, and how what it says is judged."""

import re
from collections.abc import Callable
from pathlib import Path

from benchforge.plugin import Command, Finished, Site, Task
from benchforge.plugin.databases import Dataset

# Of a new store, which is reached from this machine only.
_WHO = ("dba", "dba")
_QUIETLY = ("VERBOSE=OFF", "BANNER=OFF", "PROMPT=OFF", "ERRORS=STDOUT")
_ERROR = re.compile(
    r"^\*\*\* Error (.*?)^(?:at line|in lines) ([\d-]+) of Top-Level:$", re.MULTILINE | re.DOTALL
)
# It ends when nobody holds the database any more: what is there then can be copied.
_UNTIL_GONE = 'lock=$1; shift; "$@" || exit; while test -e "$lock"; do sleep 0.01; done'


def load(site: Site, file: Path, copy: Path, graph: str) -> Task:
    """Return a task that loads a file by its kind, from a copy that the server may read.

    Turtle goes into the graph; SPARQL and SQL say themselves where.
    """
    says = f"load {file.name}"
    if file.suffix == ".sql":
        return Task(_isql(site, stdin=file), says, _error)
    if file.suffix == ".ttl":
        statement = f"DB.DBA.TTLP(file_to_string_output('{copy}'), '', '{graph}')"
    else:
        statement = f"DB.DBA.SPARQL_EVAL(file_to_string('{copy}'), '', 0)"
    return Task(_isql(site, f"EXEC={statement}"), says, _error)


def count(site: Site, dataset: Dataset) -> list[Task]:
    """Return what compares the triples of each graph with what the dataset declares."""
    counting = "SPARQL SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH <{}> {{ ?s ?p ?o }} }}"
    return [
        Task(
            _isql(site, f"EXEC={counting.format(graph)}"),
            "count the triples",
            _right_triples(graph, triples),
        )
        for graph, triples in dataset.rows.items()
    ]


def stop(site: Site, lock: Path) -> Task:
    """Return a task that writes everything to the disk and ends the server."""
    ending = _isql(site, "EXEC=checkpoint; shutdown")
    command = Command("sh", "-c", _UNTIL_GONE, "sh", lock, *ending.argv)
    return Task(command, "stop the new store", _error)


def _isql(site: Site, *words: str, stdin: Path | None = None) -> Command:
    at = f"{site.address}:{site.ports['sql']}"
    return Command(site.programs["isql-vt"], at, *_WHO, *_QUIETLY, *words, stdin=stdin)


def _error(finished: Finished) -> str | None:
    """Return the first error that was printed: the exit code is 0 all the same."""
    printed = finished.printed
    if match := _ERROR.search(printed):
        message = re.sub(r"\[Virtuoso \w+\]", "", " ".join(match[1].split()))
        # Of a file; a single statement has no lines to count.
        return message if match[2] == "0" else f"line {match[2]}: {message}"
    if "*** Error" in printed or finished.code != 0:
        return " ".join(printed.split()) or f"exit code {finished.code}"
    return None


def _right_triples(graph: str, triples: int) -> Callable[[Finished], str | None]:
    def judge(finished: Finished) -> str | None:
        if error := _error(finished):
            return error
        printed = finished.printed.strip()
        if printed != str(triples):
            return f"graph {graph} has {printed or 'no number of'} triples instead of {triples}"
        return None

    return judge
