"""Any program as a server."""

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from benchforge.plugin import Command, Fillable, Need, Server, Site, hookimpl


class CommandServer(Server):
    """A program of any kind, told by its words or its environment where to listen.

    {port}, {address}, {url} and {backends.<label>.<name>} are filled in, in the words and in the
    environment; a plain brace is written twice. It is a list of words: no shell reads it. A
    program with a slash in its name starts at the suite's folder, and it works in `directory`.
    """

    name: ClassVar[str] = "command"

    argv: list[Fillable] = Field(alias="command", min_length=1)
    "The program and its words."
    directory: str | None = None
    "Where it works; starts at the suite's folder, which it is without it."
    environment: dict[str, Fillable] = Field(default_factory=dict)
    "Added to what the backends give, such as DATABASE_URL."

    def needs(self) -> Iterable[Need]:
        """Return the program, unless its name is filled in later."""
        program = self.argv[0]
        if any(program.placeholders()):
            return []
        if "/" in program:
            return [Need(program, "correct its path, or make it executable")]
        return [Need(program, "install it, or put its folder on PATH")]

    def command(self, site: Site) -> Command | None:
        """Return the command. Raises BenchforgeError when a backend does not give what it names."""
        program, *words = (word.filled(site) for word in self.argv)
        if "/" in program:
            program = str(site.suite_folder.absolute() / program)
        else:
            program = str(site.programs.get(program, program))
        environment = {name: text.filled(site) for name, text in self.environment.items()}
        return Command(
            *(program, *words),
            environment=site.environment(environment),
            folder=site.suite_folder.absolute() / (self.directory or ""),
        )


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [CommandServer]
