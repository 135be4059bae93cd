"""What a part answers, in a form that two answers can be compared in; nothing is started."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchforge.errors import BenchforgeError
from benchforge.parts.command import Command, Task
from benchforge.parts.fault import in_a_line
from benchforge.parts.part import Driver, Part, Server, Service
from benchforge.parts.probe import Accepts, Probe, Succeeds
from benchforge.parts.site import Site, Target

T = TypeVar("T")
Answer = Mapping[str, Any]


class PartRefusal(Exception):
    """The part says, as a part should, that it cannot do what is asked."""


class Crashed(Exception):
    """The part raised something that no user can understand."""


def ask_part(question: str, ask: Callable[[], T]) -> T:
    """Return the answer. Raises Refused, or Crashed with the name of the question."""
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
    """Return what a load is: its commands, the files that they name, and how long it takes.

    A file that no command names does not count: nobody reads it.
    """
    files = ask_part("files()", lambda: dict(part.files(target)))
    commands: list[object] = ask_part("commands()", lambda: list(part.commands(target)))
    if not commands:
        raise Crashed("commands(): no command at all")
    named = {"commands": [words(_command(one)) for one in commands]}
    return {
        **named,
        "files": _named(files, str(named)),
        "seconds": ask_part("declared_s()", lambda: float(part.declared_s())),
    }


def of_service(part: Service, site: Site) -> Answer:
    """Return all that a service answers."""
    command = ask_part("command()", lambda: part.command(site))
    answer: dict[str, Any] = {
        "template": _tasks("template()", lambda: list(part.template(site))),
        "template_key": ask_part("template_key()", lambda: part.template_key(site)),
        "prepare": _tasks("prepare()", lambda: list(part.prepare(site))),
        "command": None if command is None else words(command),
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
    """Return what every part answers."""
    return {
        "needs": ask_part("needs()", lambda: list(part.needs())),
        "version": ask_part("version()", lambda: part.version(site)),
        "fingerprint": ask_part("fingerprint()", lambda: part.fingerprint(Path())),
    }


def _command(answer: object) -> Command:
    if not isinstance(answer, Command):
        raise Crashed(f"commands(): {answer!r} is not a Command")
    return answer


def words(command: Command) -> dict[str, Any]:
    """Return a command as a comparable value."""
    return {
        "argv": command.argv,
        "environment": dict(command.environment),
        "folder": command.folder,
        "ordinary_user": command.ordinary_user,
        "stdin": command.stdin,
    }


def probe(readiness: Probe) -> str:
    """Return how readiness is seen, for a person."""
    if isinstance(readiness, Succeeds):
        return f"when this exits with 0: {' '.join(readiness.command.argv)}"
    if isinstance(readiness, Accepts):
        return f"when a connection is accepted at {readiness.at}"
    return "when the scenario's request is answered rightly"


def _tasks(question: str, ask: Callable[[], Sequence[Task]]) -> list[tuple[str, Any]]:
    return [(task.says, words(task.command)) for task in ask_part(question, ask)]


def _named(files: Mapping[str, str], text: str) -> dict[str, str]:
    """Return the files that a text names, and those that such files name."""
    named: dict[str, str] = {}
    while more := {
        name: inside
        for name, inside in files.items()
        if name not in named and name in text + "".join(named.values())
    }:
        named |= more
    return named
