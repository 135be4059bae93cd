"""Load tools that are one program, which has the part's name."""

from abc import ABC
from collections.abc import Iterable
from typing import ClassVar

from benchforge.plugin import Command, Loader, Need, Site


class Program(Loader, ABC):
    """A load tool whose only need is the program of its name."""

    install: ClassVar[str] = ""
    "Instruction to install the program. Default: by its Debian package."
    debian: ClassVar[str] = ""
    "Debian package of the program, if there is one."
    asks_version: ClassVar[str] = "--version"
    "Argument with which the program prints its version; empty if it prints none."

    def needs(self) -> Iterable[Need]:
        """Return the program."""
        return [Need(self.name, self.install, debian=self.debian)]

    def version(self, site: Site) -> Command | None:
        """Return the program with the argument that prints its version."""
        return Command(site.programs[self.name], self.asks_version) if self.asks_version else None
