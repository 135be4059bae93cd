"""Virtuoso 7, the open source edition: a private store of RDF, or an endpoint that is there."""

import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from benchforge.plugin import Command, Finished, Need, Probe, Site, Succeeds, Task, WrongOption
from benchforge.plugin.databases import URI, DataBackend, Dataset, last_word

# Of a new store, which is reached from this machine only.
_WHO = ("dba", "dba")
_QUIETLY = ("VERBOSE=OFF", "BANNER=OFF", "PROMPT=OFF", "ERRORS=STDOUT")
_ERROR = re.compile(
    r"^\*\*\* Error (.*?)^(?:at line|in lines) ([\d-]+) of Top-Level:$", re.MULTILINE | re.DOTALL
)
# It ends when nobody holds the database any more: what is there then can be copied.
_UNTIL_GONE = 'lock=$1; shift; "$@" || exit; while test -e "$lock"; do sleep 0.01; done'

_ASK = Path(__file__).with_name("ask_sparql.py")  # imported, it would import urllib.request
_PACKAGE = "virtuoso-opensource-7-bin"
_INI = """\
[Database]
DatabaseFile = {scratch}/virtuoso.db
TransactionFile = {scratch}/virtuoso.trx
xa_persistent_file = {scratch}/virtuoso.pxa
LockFile = {scratch}/virtuoso.lck
ErrorLogFile = {log}

[TempDatabase]
DatabaseFile = {scratch}/virtuoso-temp.db
TransactionFile = {scratch}/virtuoso-temp.trx

[Parameters]
ServerPort = {address}:{sql}
DisableUnixSocket = 1
CheckpointInterval = 0
DirsAllowed = {scratch}
ServerThreads = 100
NumberOfBuffers = {buffers}
MaxDirtyBuffers = {dirty}

[HTTPServer]
ServerPort = {address}:{http}
ServerRoot = {scratch}
MaxClientConnections = {connections}
"""


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
        raise ValueError("should be like 'http://127.0.0.1:8890/sparql'")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("should name the endpoint alone, without a user and a query")
    return url


def _graph(uri: str) -> str:
    if not re.fullmatch(URI, uri, re.ASCII):
        raise ValueError("should be a URI such as 'http://graph-uri'")
    return uri


class Virtuoso(DataBackend):
    """A private Virtuoso store for each trial, copied from a filled template; or a running one.

    Good to know:

    - It speaks HTTP, so the network's TCP counters also count connections from servers to it.
    - It makes no checkpoint while it serves.
    - A dataset has Turtle, which goes into its graph, SPARQL updates and SQL. Everybody may read
      everything, and nobody may write over HTTP, unless the dataset's SQL grants it, as that of
      `classes` does.
    """

    name: ClassVar[str] = "virtuoso"
    offers: ClassVar[tuple[str, ...]] = ("url", "VIRTUOSO_URL", "VIRTUOSO_GRAPH")
    ports: ClassVar[tuple[str, ...]] = ("http", "sql")
    frozen_with_server: ClassVar[bool] = True
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    of_existing: ClassVar[frozenset[str]] = DataBackend.of_existing | {"graph"}

    graph: Annotated[str, AfterValidator(_graph)] = "http://graph-uri"
    "URI of the graph that servers receive as VIRTUOSO_GRAPH. A dataset sets its own."
    number_of_buffers: Annotated[int, Field(ge=256, le=1_000_000)] = 10_000
    "Number of pages of 8 KiB in memory (NumberOfBuffers)."
    max_client_connections: Annotated[int, Field(ge=1, le=1000)] = 50
    """Number of requests that the HTTP server handles concurrently, one thread for each \
(MaxClientConnections)."""
    existing: Annotated[str, AfterValidator(_endpoint)] | None = Field(default=None, alias="url")
    "URL of a SPARQL endpoint that runs already. benchforge does not start, fill or check it."

    @model_validator(mode="after")
    def _one_graph(self) -> Self:
        if self.dataset is not None and "graph" in self.model_fields_set:
            message = "the dataset has a graph of its own"
            raise WrongOption(message, "graph", "dataset", hint="leave it out")
        return self

    def needs(self) -> Iterable[Need]:
        if self.existing is not None:
            return []
        return [Need(name, debian=_PACKAGE) for name in ("virtuoso-t", "isql-vt")]

    def version(self, site: Site) -> Command | None:
        if self.existing is not None:
            return self._ask(site)
        # Its first line does not say it.
        script = '"$0" "-?" 2>&1 | sed -n s/^Version/Virtuoso/p'
        return Command("sh", "-c", script, site.programs["virtuoso-t"])

    def files(self, site: Site) -> Mapping[str, str]:
        if self.existing is not None:
            return {}
        log = site.scratch / "virtuoso.log"  # what is in it is printed too
        return {_ini_of(site): _ini(site, log, self.number_of_buffers, self.max_client_connections)}

    def template(self, site: Site) -> Sequence[Task]:
        """Make a store, load the dataset, count its triples; options of trials do not apply."""
        if self.existing is not None:
            return ()
        ini, log = site.scratch / "virtuoso.ini", site.folder / "server.log"
        write = Command("sh", "-c", 'printf %s "$1" > "$2"', "sh", _ini(site, log), ini)
        start = Command(site.programs["virtuoso-t"], "+wait", "+configfile", ini)
        return [
            Task(write, "write virtuoso.ini"),
            Task(start, "make a store", last_word(log)),
            *self._fill(site),
            stop(site, site.scratch / "virtuoso.lck"),
        ]

    def command(self, site: Site) -> Command | None:
        if self.existing is not None:
            return None
        ini = site.folder.absolute() / _ini_of(site)
        program = site.programs["virtuoso-t"]
        return Command(program, "+foreground", "+configfile", ini, folder=site.scratch)

    def ready(self, site: Site) -> Probe:
        """Return a question to the endpoint itself: it opens last."""
        return Succeeds(self._ask(site))

    def verify(self, site: Site) -> Iterable[Task]:
        """Count the triples again, for a template that was damaged since."""
        data = self.data(site)
        return count(site, data[1]) if data else []

    def gives(self, site: Site) -> Mapping[str, str]:
        data, url = self.data(site), self._url(site)
        graph = data[1].into if data else self.graph
        return {"url": url, "VIRTUOSO_URL": url, "VIRTUOSO_GRAPH": graph}

    def _fill(self, site: Site) -> Iterable[Task]:
        if (data := self.data(site)) is None:
            return
        folder, dataset = data
        for number, name in enumerate(dataset.files):
            # The server reads below its own folder only; the name needs no quoting there.
            copy = site.scratch / f"{number}{Path(name).suffix}"
            yield Task(Command("cp", folder / name, copy), f"copy {name}")
            yield load(site, folder / name, copy, dataset.into)
            yield Task(Command("rm", copy), f"remove the copy of {name}")
        yield from count(site, dataset)

    def _ask(self, site: Site) -> Command:
        return Command(site.python, "-I", "-S", _ASK, self._url(site))

    def _url(self, site: Site) -> str:
        return self.existing or f"{site.url}/sparql"


def _ini_of(site: Site) -> str:
    return f"backend-{site.label}.ini"


def _ini(site: Site, log: Path, buffers: int = 10_000, connections: int = 10) -> str:
    return _INI.format(
        scratch=site.scratch,
        log=log.absolute(),
        address=site.address,
        http=site.ports["http"],
        sql=site.ports["sql"],
        buffers=buffers,
        dirty=buffers * 3 // 4,
        connections=connections,
    )


def load(site: Site, file: Path, copy: Path, graph: str) -> Task:
    """Return a task that loads a file by its kind: Turtle into the graph, SPARQL and SQL."""
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
    query = "EXEC=SPARQL SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH <{}> {{ ?s ?p ?o }} }}"
    return [
        Task(
            _isql(site, query.format(graph)),
            "count the triples",
            partial(_right_triples, graph, triples),
        )
        for graph, triples in dataset.rows.items()
    ]


def stop(site: Site, lock: Path) -> Task:
    """Return a task that writes everything to the disk and ends the server."""
    words = _isql(site, "EXEC=checkpoint; shutdown").argv
    return Task(Command("sh", "-c", _UNTIL_GONE, "sh", lock, *words), "stop the new store", _error)


def _isql(site: Site, *words: str, stdin: Path | None = None) -> Command:
    address = f"{site.address}:{site.ports['sql']}"
    return Command(site.programs["isql-vt"], address, *_WHO, *_QUIETLY, *words, stdin=stdin)


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


def _right_triples(graph: str, triples: int, finished: Finished) -> str | None:
    if error := _error(finished):
        return error
    printed = finished.printed.strip()
    wrong = f"graph {graph} has {printed or 'no number of'} triples instead of {triples}"
    return wrong if printed != str(triples) else None
