"""Site of a service, target of a driver, and output of a finished driver."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.trial.answers.answer import Request
from benchforge.parts.command import Command, Finished
from benchforge.parts.content import content_of

BODY = "request-body"
"The file of a request's body, beside the trial."
HEAD = "request-head"
"The file of its first line and headers: other users may read a program's arguments, not this."


@dataclass(frozen=True)
class RightAnswer:
    """Ready when the scenario's request gets a right answer on the port for HTTP."""


@dataclass(frozen=True)
class Succeeds:
    """Ready when a command exits with 0."""

    command: Command


@dataclass(frozen=True)
class Accepts:
    """Ready when a connection is accepted: at a port, by its name, or at a unix socket."""

    at: str | Path = "http"


Probe = RightAnswer | Succeeds | Accepts


@dataclass(frozen=True)
class Tree:
    """A commit of a repository, checked out into a folder of its own."""

    repository: Path
    "Top folder of the user's working tree."
    checkout: Path
    "Top folder of the checkout."

    def at(self, path: Path) -> Path:
        """Return the path in the checkout of a file of the working tree.

        A file outside of the working tree keeps its path, and so does a virtual environment's.
        """
        # Not the last name: an environment's Python is a link, and by its own name it knows it.
        resolved = path.resolve() if path.name == ".." else path.parent.resolve() / path.name
        if not resolved.is_relative_to(self.repository):
            return path
        if any((folder / "pyvenv.cfg").is_file() for folder in resolved.parents):
            return path
        return self.checkout / resolved.relative_to(self.repository)


@dataclass(frozen=True)
class Site:
    """The place of a service: its folder, ports, interpreter, and the services that it uses."""

    label: str
    "Label of the part."
    folder: Path
    "Folder for configuration and logs, kept with the trial."
    scratch: Path
    "Private folder for databases, removed at the end. Its path is short, for sockets of 107 bytes."
    address: str
    "IP address to listen on."
    ports: Mapping[str, int]
    "Ports by name: http, https or one of the part's own."
    python: Path
    "Path of the interpreter."
    programs: Mapping[str, Path]
    "Path of each program that the part needs, by name."
    backends: Mapping[str, Mapping[str, str]]
    "Values that each backend of the scenario provides, by its label."
    suite_folder: Path
    "Folder of the suite, where its relative paths start."
    as_root: bool
    "True if the trial's processes run as root."
    upstreams: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    "Values that each upstream server provides, by its label."
    peers: tuple[str, ...] = ()
    "Addresses of the other hosts that may connect; empty on one machine."
    tree: Tree | None = None
    "Checkout that the part's code is served from; None for the working tree."

    def own(self, path: Path) -> Path:
        """Return the path of the part's own code: in the commit, if the part names one."""
        return path if self.tree is None else self.tree.at(path)

    @property
    def port(self) -> int:
        """The port for HTTP. Raises KeyError for a service without one."""
        return self.ports["http"]

    @property
    def url(self) -> str:
        """The root of the service, without a slash at its end."""
        return f"http://{self.address}:{self.port}"

    def environment(self, additions: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables of all backends, overridden by `additions`.

        Raises BenchforgeError if two backends give the same name and `additions` does not set it.
        """
        environment_: dict[str, str] = {}
        giver: dict[str, str] = {}
        for label, gives in self.backends.items():
            for name, value in gives.items():
                if not name.isupper() or name in additions:
                    continue
                if name in environment_:
                    raise BenchforgeError(
                        f"{self.label}: backends {giver[name]} and {label} both give {name}",
                        f'say which: environment = {{ {name} = "{{backends.{label}.url}}" }}',
                    )
                environment_[name], giver[name] = value, label
        return environment_ | dict(additions)


@dataclass(frozen=True)
class Target:
    """The target of a driver, and the folder that it may write to."""

    url: str
    "URL of the request, including path and query."
    request: Request
    "Request of the scenario."
    folder: Path
    "Folder for the driver's files, kept with the trial."
    programs: Mapping[str, Path]
    "Path of each program that the part needs, by name."
    python: Path
    "Path of the interpreter."
    phase: Literal["warm-up", "load"] = "load"
    ca_file: Path | None = None
    "PEM file to trust; None for plain HTTP, or for the system's certificates."
    suite_folder: Path = Path()
    "Folder of the suite, where its relative paths start."
    stream: Path | None = None
    """File of the requests of a mix, to send one after the other; None for one request. It has \
their bytes, and `index` has an entry of 16 bytes for each: offset (8), length (4), number of the \
kind (2), number of later steps (2), little-endian. Of k processes or threads, number i takes the \
records i, i + k, and so on, and begins again at the end. The later steps of a flow are behind its \
record: length (4) and JSON of each, with holes; `flows` says which values fill them."""
    kinds: tuple[str, ...] = ()
    "Labels of the kinds of a mix, in the order of their numbers."
    turns: Path | None = None
    """Folder with the pipes `go` and `done` if the driver takes turns. A driver with \
`interrupted_by` is frozen instead, for up to some seconds in a request. It reads lines from `go`: \
`slice NANOSECONDS` starts a load of that length, `anew` forgets all counts, `end` ends the load. \
It keeps its connections, and after each slice waits for the requests under way and then writes a \
line to `done`: begin, end (of the last response, both on the monotonic clock in ns), requests \
sent, responses, failed requests. After `anew` it writes an empty line."""

    @property
    def root(self) -> str:
        """Root of the URL, without the path."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def head_file(self) -> Path:
        """Path of a file with the request's first line and headers, for tools that read one."""
        return self.folder / HEAD

    @property
    def head(self) -> Mapping[str, str]:
        """Text of that file by its name: `GET /path`, then `Name: value`, a line each."""
        request = self.request
        lines = (f"{name}: {value}" for name, value in request.headers.items())
        path = self.url.removeprefix(self.root) or "/"
        return {HEAD: "\n".join([f"{request.method} {path}", *lines, ""])}

    @property
    def index(self) -> Path | None:
        """Path of the index of `stream`."""
        return self.stream and self.stream.with_suffix(".index")

    @property
    def flows(self) -> Path | None:
        """Path of JSON about the flows of `stream`, beside it."""
        return self.stream and self.stream.with_suffix(".flows")

    @property
    def body_file(self) -> Path | None:
        """Path of a file with the request's body; None without a body."""
        return None if self.request.body is None else self.folder / BODY


@dataclass(frozen=True)
class Output:
    """Output of a driver's processes, the main one first."""

    target: Target
    "Target of the load."
    finished: tuple[Finished, ...]
    "Processes in the order of `commands`."
    hide: Callable[[str], str] = str
    "Function that redacts secrets in a text."

    @property
    def code(self) -> int:
        """Exit code of the main process."""
        return self.finished[0].code

    @property
    def stdout(self) -> str:
        """Standard output of the main process. Raises OutputDamaged if it is not text."""
        return self.hide(_text(self.finished[0].stdout))

    @property
    def stderr(self) -> str:
        """Standard error of the main process."""
        return self.hide(self.finished[0].complained)

    def file(self, name: str) -> str:
        """Return the text of a file that the driver wrote. Raises OutputDamaged without it."""
        return self.hide(_text(self.target.folder / name))


def _text(path: Path) -> str:
    try:
        return content_of(path).decode()
    except FileNotFoundError:
        hint = "see its output in the trial's folder"
        raise OutputDamaged(f"{path.name}: the tool did not write it", hint) from None
    except UnicodeDecodeError as error:
        problem = f"not text: {error.reason} at byte {error.start}"
        raise OutputDamaged(f"{path.name}: {problem}") from None
