"""Any program as a server."""

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from benchforge.plugin import Command, Fillable, Need, Server, ServesCode, Site, hookimpl


class CommandServer(ServesCode, Server):
    """Any program that takes its address from arguments or environment variables.

    In arguments and environment, benchforge replaces {port}, {address}, {url} and
    {backends.<label>.<name>}; write a plain brace twice. The command is a list of arguments: no
    shell reads it. A program with a slash in its name is relative to the suite's folder, and it
    runs in `directory`. With a `ref`, that program and that folder come from the commit. A path in
    a later argument does not, unless it is relative to the folder.
    """

    name: ClassVar[str] = "command"

    argv: list[Fillable] = Field(alias="command", min_length=1)
    "Program and its arguments."
    environment: dict[str, Fillable] = Field(default_factory=dict)
    "Environment variables, in addition to those that backends provide, such as DATABASE_URL."

    def needs(self) -> Iterable[Need]:
        """Return the program, unless its name is filled in later, and git for a commit."""
        yield from super().needs()
        program = self.argv[0]
        if any(program.placeholders()):
            return
        if "/" not in program:
            yield Need(program, "install it, or put its folder on PATH")
        elif self.ref is None:  # a commit may have one that the working tree lacks
            yield Need(program, "correct its path, or make it executable")

    def command(self, site: Site) -> Command | None:
        """Return the command. Raises BenchforgeError when a backend does not give what it names."""
        program, *words = (word.filled(site) for word in self.argv)
        if "/" in program:
            program = str(site.own(site.suite_folder.absolute() / program))
        else:
            program = str(site.programs.get(program, program))
        environment = {name: text.filled(site) for name, text in self.environment.items()}
        return Command(
            *(program, *words),
            environment=site.environment(environment),
            folder=site.own(site.suite_folder.absolute() / (self.directory or "")),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [CommandServer]
