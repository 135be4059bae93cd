"""Bottle's own way to serve: `bottle.run`, by one of the servers that it knows."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from benchforge.plugin import Command, Need, RunsPython, Server, Site

# A plain file: it may run by another interpreter, where neither benchforge nor we are installed.
RUNNER = Path(__file__).with_name("runners") / "bottle_main.py"


class Bottle(RunsPython, Server):
    """An app of Bottle, or any WSGI app, served by `bottle.run`.

    Good to know: `wsgiref`, which Bottle takes by itself, answers one request at a time and closes
    each connection; its queue holds five, and who comes then tries again a second later.
    """

    name: ClassVar[str] = "bottle"

    app: str = Field(pattern=r"^[\w.]+:\w+$")
    "Name of the app, as module:attribute."
    directory: str = "."
    "Folder that contains the app's module, relative to the suite's folder."
    adapter: Literal["wsgiref", "waitress"] = "wsgiref"
    "Bottle's name of the server."
    environment: dict[str, str] = Field(default_factory=dict)
    "Environment variables, in addition to those that backends provide, such as DATABASE_URL."

    def needs(self) -> Iterable[Need]:
        """Return Bottle, and the server that does the work."""
        modules = ["bottle"] if self.adapter == "wsgiref" else ["bottle", self.adapter]
        return [Need(name, f"pip install {name}", "module") for name in modules]

    def version(self, site: Site) -> Command:
        """Ask the interpreter that runs it."""
        return Command(site.python, "-c", "import bottle; print('bottle', bottle.__version__)")

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the app's Python files: other code makes another case."""
        total = hashlib.sha256()
        for file in sorted((suite_folder / self.directory).rglob("*.py")):
            total.update(hashlib.sha256(file.read_bytes()).digest())
        return total.hexdigest()[:16]

    def command(self, site: Site) -> Command:
        """Return the runner, told where to listen and what to serve."""
        directory = (site.suite_folder / self.directory).absolute()
        where = (site.address, site.port, directory, self.app, self.adapter)
        return Command(
            *(site.python, RUNNER, *where), environment=site.environment(self.environment)
        )
