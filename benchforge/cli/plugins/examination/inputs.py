"""Inputs of the questions to a part: requests of every kind, and a place to serve at."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import Field, JsonValue, ValidationError

from benchforge.errors import BenchforgeError, Unusable
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Reading
from benchforge.model.values.frozen import Frozen
from benchforge.parts.command import Command, Finished, Need, Task
from benchforge.parts.fault import in_a_line
from benchforge.parts.part import Driver, Part, Server, Service
from benchforge.parts.site import Accepts, Output, Probe, Site, Succeeds, Target
from benchforge.run.locate import locate

FACTS, OUT, ERR = "recording.json", "stdout.txt", "stderr.txt"

TRIAL_FOLDER = Path("/trial")
ROOT = "http://127.0.0.1:8080"
SECURE = "https://127.0.0.1:8443"
CA_FILE = TRIAL_FOLDER / "ca.pem"
JSON = {"Content-Type": "application/json"}
GET = "GET /"
BACKEND = {"url": "postgresql://127.0.0.1:5432/agents", "BACKEND_URL": "postgresql://127.0.0.1/a"}

T = TypeVar("T")
Answer = Mapping[str, Any]


class _Facts(Frozen):
    options: dict[str, JsonValue] = Field(default_factory=dict)
    exit_code: int = 0
    path: str = "/"


@dataclass(frozen=True)
class Recording:
    """Output of one run: files by name, stdout.txt and stderr.txt among them."""

    name: str
    options: Mapping[str, JsonValue]
    exit_code: int
    path: str
    "Path of the request."
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read a recording: a file with the output of a tool, or a folder with all files of a run.

        That is stdout.txt, stderr.txt, the files that the tool wrote, and recording.json with
        `options`, `exit_code` and `path`, each of which may be missing but the first.
        Raises Unusable when it cannot be read.
        """
        try:
            if not path.is_dir():
                return cls(str(path), {}, 0, "/", {OUT: path.read_bytes()})
            entries = [file for file in sorted(path.iterdir()) if file.is_file()]
            files = {file.name: file.read_bytes() for file in entries}
            stated = json.loads(files.get(FACTS, b"{}")).items()
            facts = _Facts.model_validate(
                {key: value for key, value in stated if key in _Facts.model_fields}
            )
        except OSError as error:
            raise Unusable(f"{error.filename or path}: {error.strerror}") from None
        except (ValueError, AttributeError, ValidationError) as error:
            first = str(error).splitlines()[0]
            hint = "it holds JSON: options, exit_code and path"
            raise Unusable(f"{path / FACTS}: {first}", hint) from None
        if OUT not in files:
            hint = "the folder of a recording contains it, and other files of the tool"
            raise Unusable(f"{path}: no {OUT}", hint)
        return cls(str(path), facts.options, facts.exit_code, facts.path, files)

    def read(self, part: Driver, folder: Path) -> Reading:
        """Return the reading of a part. The files are written to `folder`.

        Raises what the part's own `read` raises, and TypeError where it returns no reading.
        """
        for name in (OUT, ERR):
            (folder / name).write_bytes(b"")
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        done = Finished(self.exit_code, folder / OUT, folder / ERR, 1.0, 0.0, 0.0)
        # The same for two readings, wherever they are read.
        target = Target(ROOT + self.path, Request(path=self.path), folder, {}, Path("/bin/python"))
        reading: object = part.read(Output(target, (done,)))
        if not isinstance(reading, Reading):
            raise TypeError(f"it returns {type(reading).__name__}, not a Reading")
        return reading


@dataclass(frozen=True)
class Aspect:
    """Two targets with one difference, which a driver has to tell apart."""

    name: str
    base: Target
    other: Target
    needed: bool = True
    "True if numbers are wrong without it. A part may always refuse it."


def targets(programs: Mapping[str, Path]) -> dict[str, Target]:
    """Return the targets of a driver's questions, each under a name for a person."""
    plain = Target(f"{ROOT}/", Request(path="/"), TRIAL_FOLDER, programs, Path(sys.executable))
    return {
        GET: plain,
        "GET /agents?page=2 with headers": _to(
            plain, Request(path="/agents?page=2", headers={"X-Check": "one two"})
        ),
        "POST /agents with a body": _to(
            plain, Request(method="POST", path="/agents", headers=JSON, body='{"name": "Ada"}')
        ),
        "HEAD /": _to(plain, Request(method="HEAD", path="/")),
        "GET / over https, with a CA file": replace(plain, url=f"{SECURE}/", ca_file=CA_FILE),
        "GET / for the warm-up": replace(plain, phase="warm-up"),
    }


def aspects(programs: Mapping[str, Path]) -> list[Aspect]:
    """Return the pairs of targets that every driver has to tell apart, or refuse."""
    plain = targets(programs)[GET]
    post = _to(plain, Request(method="POST", path="/", headers=JSON, body="one"))
    other = _to(plain, Request(method="POST", path="/", headers=JSON, body="two"))
    secure = replace(plain, url=f"{SECURE}/")
    return [
        Aspect("the server", plain, replace(plain, url="http://127.0.0.1:8081/")),
        Aspect("the path", plain, _to(plain, Request(path="/agents"))),
        Aspect("the query", plain, _to(plain, Request(path="/?page=2"))),
        Aspect("https", plain, secure),
        Aspect("the method", plain, _to(plain, Request(method="DELETE", path="/"))),
        Aspect("HEAD", plain, _to(plain, Request(method="HEAD", path="/"))),
        Aspect("a header", plain, _to(plain, Request(path="/", headers={"X-Check": "1"}))),
        Aspect("the header Host", plain, _to(plain, Request(path="/", headers={"host": "a.org"}))),
        Aspect("the body", post, _to(post, Request(method="POST", path="/", headers=JSON))),
        Aspect("the text of the body", post, other),
        Aspect("the CA file", secure, replace(secure, ca_file=CA_FILE), needed=False),
    ]


def site(part: Service, programs: Mapping[str, Path]) -> Site:
    """Return a place with a backend and whatever the part stands before."""
    upstreams = part.upstreams() if isinstance(part, Server) else ()
    return Site(
        label="mine",
        folder=TRIAL_FOLDER,
        scratch=Path("/scratch"),
        address="127.0.0.1",
        ports={name: 8080 + number for number, name in enumerate(part.ports)},
        python=Path(sys.executable),
        programs=programs,
        backends={"data": BACKEND},
        suite_folder=Path.cwd(),
        as_root=False,
        upstreams={label: {"url": "http://127.0.0.1:8090"} for label in upstreams},
    )


def programs(needs: Iterable[Need]) -> dict[str, Path]:
    """Return where each program is; one that is missing would be in /usr/bin."""
    names = [need.name for need in needs if need.kind == "program"]
    return {name: locate(name) or Path("/usr/bin") / name for name in names}


def _to(target: Target, request: Request) -> Target:
    root = target.url.removesuffix("/")
    return replace(target, url=root + request.path, request=request)


class PartRefusal(Exception):
    """The part refuses, as a part should, what it cannot do."""


class Crashed(Exception):
    """The part raised something that no user can understand."""


def ask_part(question: str, ask: Callable[[], T]) -> T:
    """Return the answer. Raises PartRefusal, or Crashed with the name of the question."""
    try:
        return ask()
    except BenchforgeError as error:
        raise PartRefusal(error.message) from error
    except KeyError as error:
        available = "programs are those of needs(), ports those of the class"
        raise Crashed(f"{question}: KeyError: {error} ({available})") from error
    except (Exception, SystemExit) as error:  # it is somebody else's code
        raise Crashed(f"{question}: {in_a_line(error)}") from error


def of_driver(part: Driver, target: Target) -> Answer:
    """Return the commands of a load, the files that they name, and its seconds."""
    files = ask_part("files()", lambda: dict(part.files(target)))
    commands: list[object] = ask_part("commands()", lambda: list(part.commands(target)))
    if not commands:
        raise Crashed("commands(): no command at all")
    for command in commands:
        if not isinstance(command, Command):
            raise Crashed(f"commands(): {command!r} is not a Command")
    return {
        "commands": commands,
        "files": _named(files, str(commands)),
        "seconds": ask_part("declared_s()", lambda: float(part.declared_s())),
    }


def of_service(part: Service, site: Site) -> Answer:
    """Return all that a service answers."""
    command = ask_part("command()", lambda: part.command(site))
    answer: dict[str, Any] = {
        "template": _tasks("template()", lambda: list(part.template(site))),
        "template_key": ask_part("template_key()", lambda: part.template_key(site)),
        "prepare": _tasks("prepare()", lambda: list(part.prepare(site))),
        "command": command,
        "ready": probe(ask_part("ready()", lambda: part.ready(site))),
        "verify": _tasks("verify()", lambda: list(part.verify(site))),
        "gives": ask_part("gives()", lambda: dict(part.gives(site))),
        "outside": ask_part("outside()", part.outside),
        "seconds": float(part.ready_within),
    }
    if isinstance(part, Server):
        answer |= {
            "upstreams": list(ask_part("upstreams()", part.upstreams)),
            "certificate": ask_part("certificate()", lambda: part.certificate(site)),
            "behind_proxy_only": ask_part("behind_proxy_only()", part.behind_proxy_only),
        }
        if not answer["behind_proxy_only"]:
            answer["url"] = ask_part("url()", lambda: part.url(site))
    files = ask_part("files()", lambda: dict(part.files(site)))
    return {**answer, "files": _named(files, str(answer))}


def of_all(part: Part, site: Site) -> Answer:
    """Return the answers that every part has."""
    return {
        "needs": ask_part("needs()", lambda: list(part.needs())),
        "version": ask_part("version()", lambda: part.version(site)),
        "fingerprint": ask_part("fingerprint()", lambda: part.fingerprint(Path())),
    }


def probe(readiness: Probe) -> str:
    """Return the sign of readiness, for a person."""
    if isinstance(readiness, Succeeds):
        return f"when this exits with 0: {' '.join(readiness.command.argv)}"
    if isinstance(readiness, Accepts):
        return f"when a connection is accepted at {readiness.at}"
    return "when the scenario's request is answered rightly"


def _tasks(question: str, ask: Callable[[], Sequence[Task]]) -> list[tuple[str, Command]]:
    return [(task.says, task.command) for task in ask_part(question, ask)]


def _named(files: Mapping[str, str], text: str) -> dict[str, str]:
    named: dict[str, str] = {}
    while more := {
        name: inside
        for name, inside in files.items()
        if name not in named and name in text + "".join(named.values())
    }:
        named |= more
    return named
