"""Where a service lives, what a driver hits, and what a finished driver left."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.trial.answer import Request
from benchforge.parts.command import Finished
from benchforge.parts.content import content_of

BODY = "request-body"
"The file of a request's body, beside the trial."
HEAD = "request-head"
"The file of its first line and headers: other users may read a program's arguments, not this."


@dataclass(frozen=True)
class Tree:
    """A commit of a repository, checked out where nothing of the user's lies."""

    repository: Path
    "The top of the user's working tree."
    checkout: Path
    "The top of the checkout."

    def at(self, path: Path) -> Path:
        """Return where a file of the working tree stands here.

        One outside of it stays itself, and so does one of a virtual environment: no commit has it.
        """
        # Not the last name: an environment's Python is a link, and by its own name it knows it.
        there = path.resolve() if path.name == ".." else path.parent.resolve() / path.name
        if not there.is_relative_to(self.repository):
            return path
        if any((folder / "pyvenv.cfg").is_file() for folder in there.parents):
            return path
        return self.checkout / there.relative_to(self.repository)


@dataclass(frozen=True)
class Site:
    """Where a service lives: a folder of its own, ports, an interpreter, and what it depends on."""

    label: str
    "Of the part in the suite."
    folder: Path
    "Kept with the trial: configuration and logs."
    scratch: Path
    "Short (sockets end at 107 bytes), private, removed at the end: databases live here."
    address: str
    "The IP address to listen on."
    ports: Mapping[str, int]
    "Each port by its name: http, https or one of its own."
    python: Path
    "The interpreter that runs it."
    programs: Mapping[str, Path]
    "Where each program that the part needs was found."
    backends: Mapping[str, Mapping[str, str]]
    "What each backend of the scenario gives, by its label."
    suite_folder: Path
    "Relative paths in the suite start here."
    as_root: bool
    "Whether the trial's processes are root there."
    upstreams: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    "What each server that it stands before gives, by its label."
    tree: Tree | None = None
    "What its own code is served from; None for where it lies."

    def own(self, path: Path) -> Path:
        """Return where a file or folder of its own code is: of the commit, where it names one."""
        return path if self.tree is None else self.tree.at(path)

    @property
    def port(self) -> int:
        """The port for HTTP. Raises KeyError for a service without one."""
        return self.ports["http"]

    @property
    def url(self) -> str:
        """The root of the service, without a slash at its end."""
        return f"http://{self.address}:{self.port}"

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return what all backends give to those who depend on them, with `own` laid over it.

        Raises BenchforgeError when two backends give one name and `own` does not choose.
        """
        given: dict[str, str] = {}
        giver: dict[str, str] = {}
        for label, gives in self.backends.items():
            for name, value in gives.items():
                if not name.isupper() or name in own:
                    continue
                if name in given:
                    raise BenchforgeError(
                        f"{self.label}: backends {giver[name]} and {label} both give {name}",
                        f'say which: environment = {{ {name} = "{{backends.{label}.url}}" }}',
                    )
                given[name], giver[name] = value, label
        return given | dict(own)


@dataclass(frozen=True)
class Target:
    """What a driver hits, and where it may write."""

    url: str
    "Of the request, path and query included."
    request: Request
    "What is asked."
    folder: Path
    "Kept with the trial."
    programs: Mapping[str, Path]
    "Where each program that the part needs was found."
    python: Path
    "The interpreter that runs it."
    phase: Literal["warm-up", "load"] = "load"
    ca_file: Path | None = None
    "PEM file that is to be trusted; None for plain HTTP, or when the system's own is meant."
    suite_folder: Path = Path()
    "Relative paths in the suite start here."

    @property
    def root(self) -> str:
        """The URL without the path: what a program may be told by its arguments."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def head_file(self) -> Path:
        """Where the request's first line and headers stand for a tool that reads them there."""
        return self.folder / HEAD

    @property
    def head(self) -> Mapping[str, str]:
        """The text of that file by its name: `GET /path`, then `Name: value`, a line each."""
        request = self.request
        lines = (f"{name}: {value}" for name, value in request.headers.items())
        path = self.url.removeprefix(self.root) or "/"
        return {HEAD: "\n".join([f"{request.method} {path}", *lines, ""])}

    @property
    def body_file(self) -> Path | None:
        """Where the body of the request stands for the tool to read; None without a body."""
        return None if self.request.body is None else self.folder / BODY


@dataclass(frozen=True)
class Output:
    """What the processes of a driver left: the main one's first."""

    target: Target
    "What was hit."
    finished: tuple[Finished, ...]
    "In the order of `commands`."
    hide: Callable[[str], str] = str
    "What takes secrets out of a text: it is read as it will be kept."

    @property
    def code(self) -> int:
        """The exit code of the main process."""
        return self.finished[0].code

    @property
    def stdout(self) -> str:
        """What the main process printed. Raises OutputDamaged when it is not text."""
        return self.hide(_text(self.finished[0].stdout))

    @property
    def stderr(self) -> str:
        """What the main process complained of."""
        return self.hide(self.finished[0].complained)

    def file(self, name: str) -> str:
        """Return the text of a file that the driver wrote. Raises OutputDamaged without it."""
        return self.hide(_text(self.target.folder / name))


def _text(path: Path) -> str:
    try:
        return content_of(path).decode()
    except FileNotFoundError:
        raise OutputDamaged(
            f"{path.name}: the tool did not write it", "see its output in the trial's folder"
        ) from None
    except UnicodeDecodeError as error:
        raise OutputDamaged(
            f"{path.name}: not text: {error.reason} at byte {error.start}"
        ) from None
