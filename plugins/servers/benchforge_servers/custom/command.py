"""Any program as a server."""

import contextlib
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, model_validator

from benchforge.plugin import (
    Command,
    Fillable,
    Need,
    RunsPython,
    Server,
    ServesCode,
    Site,
    WrongOption,
)

_PORT = re.compile(r"\$(PORT\b|\{PORT\})")
_SHEBANG = 256  # characters at most, as the kernel reads: the rest may be gigabytes
_RUNTIMES = {"bun", "deno", "node", "php", "python", "python3", "ruby"}
_PACKAGE_OF = """import sys
from importlib.metadata import entry_points
for script in entry_points(group="console_scripts", name=sys.argv[1]):
    print(script.dist.name, script.dist.version)
"""
_OF_SHELL = re.compile(r"-\w*c")
"Option before the text that a shell reads: sh -c, bash -lc."


def _words(value: Any) -> Any:
    """Return the words of a text, as a shell divides it. Raises WrongOption for its variable."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            hint = "close the quotes, or write the command as a list of arguments"
            raise WrongOption(str(error).lower(), hint=hint) from error
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    literal = next((word for word in words if _PORT.search(word)), None)
    if literal is not None and not any(map(_OF_SHELL.fullmatch, words)):
        filled = _PORT.sub("{port}", literal)
        raise WrongOption("no shell reads $PORT in it", hint=f"write {{port}} instead: {filled!r}")
    return value


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
    tls: bool = False
    "True if the program speaks TLS on its port: requests go over HTTPS."
    ca_file: str | None = None
    """Path of a PEM file with trusted certificates, relative to the suite's folder. Default: the \
system's certificates."""

    @model_validator(mode="after")
    def _of_tls(self) -> Self:
        if self.ca_file is not None and not self.tls:
            raise WrongOption("it is for a program that speaks TLS", "ca_file", "tls")
        return self

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

    @property
    def software(self) -> str:
        """The name of the program, if it is not filled in later."""
        program = self.argv[0]
        return self.name if any(program.placeholders()) else Path(program).name

    def version(self, site: Site) -> Command | None:
        """Return what tells the version of a runtime, or of the package of a Python program.

        The program itself may be any: it is not started.
        """
        program = self.argv[0]
        if any(program.placeholders()):
            return Command(site.python, "--version") if program == "{python}" else None
        file = site.programs.get(program, site.suite_folder.absolute() / program)
        if file.name in _RUNTIMES:
            return Command(file, "--version")
        with contextlib.suppress(OSError, UnicodeDecodeError), file.open() as script:
            mark, _, interpreter = script.readline(_SHEBANG).rstrip().partition("#!")
            if not mark and Path(interpreter).name.startswith("python"):
                return Command(interpreter, "-c", _PACKAGE_OF, file.name)
        return None

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        program = self.argv[0]
        yield from super().reads(suite_folder)
        if self.ca_file is not None:
            yield suite_folder / self.ca_file
        if "/" in program.lstrip("/") and not program.startswith("/") and self.ref is None:
            yield from () if any(program.placeholders()) else (suite_folder / program,)

    def starts_python(self) -> bool:
        return self.runtime is not None or "python" in self.argv[0].placeholders()

    def fixed_ports(self) -> Mapping[str, int]:
        return {} if self.port is None else {"http": self.port}

    def certificate(self, site: Site) -> Path | None:
        return None if self.ca_file is None else site.suite_folder.absolute() / self.ca_file

    def url(self, site: Site) -> str:
        return site.url.replace("http:", "https:", 1) if self.tls else site.url

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
