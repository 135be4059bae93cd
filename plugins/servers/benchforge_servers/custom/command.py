"""Any program as a server."""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from benchforge.plugin import (
    Command,
    Fillable,
    Need,
    RunsPython,
    Server,
    ServesCode,
    Site,
    WrongOption,
    hookimpl,
)


def _words(given: Any) -> Any:
    """Return the words of a text, as a shell divides it."""
    if not isinstance(given, str):
        return given
    try:
        return shlex.split(given)
    except ValueError as error:
        hint = "close the quotes, or write the command as a list of arguments"
        raise WrongOption(str(error).lower(), hint=hint) from error


class CommandServer(ServesCode, RunsPython, Server):
    """Any program that takes its address from arguments or environment variables.

    In arguments and environment, benchforge replaces {port}, {address}, {url}, {python} and
    {backends.<label>.<name>}; write a plain brace twice. The command is a list of arguments, or a
    text that is divided at spaces outside of quotes: no shell reads it. A program with a slash in
    its name is relative to the suite's folder, and it runs in `directory`. With a `ref`, that
    program and that folder come from the commit. A path in a later argument does not, unless it is
    relative to the folder.

    With a `runtime`, {python} is its interpreter, and PATH begins with the folder that has the
    programs of its packages, such as gunicorn.
    """

    name: ClassVar[str] = "command"

    argv: Annotated[
        list[Fillable], BeforeValidator(_words, json_schema_input_type=str | list[str])
    ] = Field(alias="command", min_length=1)
    "Program and its arguments."
    environment: dict[str, Fillable] = Field(default_factory=dict)
    "Environment variables, in addition to those that backends provide, such as DATABASE_URL."
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    "Port on which the program listens, if it does not take {port}. Default: any free port."

    def needs(self) -> Iterable[Need]:
        """Return the program, unless its name is filled in later, and git for a commit."""
        yield from super().needs()
        program = self.argv[0]
        if any(program.placeholders()):
            return
        if "/" not in program:
            if self.runtime is None:  # its packages may bring the program
                yield Need(program, "install it, or put its folder on PATH")
        elif self.ref is None:  # a commit may have one that the working tree lacks
            hint = "correct its path, which begins at the suite's folder, or make it executable"
            yield Need(program, hint)

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        """Return the directory, and a program that is relative to the suite's folder."""
        program = self.argv[0]
        yield from super().reads(suite_folder)
        if "/" in program.lstrip("/") and not program.startswith("/") and self.ref is None:
            yield from () if any(program.placeholders()) else (suite_folder / program,)

    def starts_python(self) -> bool:
        """Return True if the suite says which interpreter it is."""
        return self.runtime is not None or "python" in self.argv[0].placeholders()

    def fixed_ports(self) -> Mapping[str, int]:
        """Return the port that the suite sets."""
        return {} if self.port is None else {"http": self.port}

    def command(self, site: Site) -> Command | None:
        """Return the command. Raises BenchforgeError when a backend does not give what it names."""
        program, *words = (word.filled(site) for word in self.argv)
        if "/" in program:
            program = str(site.own(site.suite_folder.absolute() / program))
        else:
            program = str(site.programs.get(program, program))
        environment = {name: text.filled(site) for name, text in self.environment.items()}
        if self.runtime is not None and "PATH" not in environment:
            environment["PATH"] = f"{site.python.parent}:{os.environ.get('PATH', os.defpath)}"
        return Command(
            *(program, *words),
            environment=site.environment(environment),
            folder=site.own(site.suite_folder.absolute() / (self.directory or "")),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [CommandServer]
