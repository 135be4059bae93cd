"""What all servers have in common that serve an app: built in, or the user's own."""

from abc import ABC
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from benchforge.plugin import Need, RunsPython, Server, Site
from benchforge_servers import app as apps
from benchforge_servers.app import INSTALL, App, AppName
from benchforge_servers.placeholders import Fillable, filled


class AppServer(RunsPython, Server, ABC):
    """A Python server that is given an app; whoever speaks the app's protocol can serve it."""

    speaks: ClassVar[tuple[str, ...]]
    "The protocols of apps that it can serve, whatever its options."
    modules: ClassVar[tuple[str, ...]]
    "What it imports itself."

    app: AppName
    "A built-in app, or module:attribute of your own."
    directory: str | None = None
    "Where your own app is imported from; starts at the suite's folder, which it is without it."
    environment: dict[str, Fillable] = Field(default_factory=dict)
    "Added to what the backends give, such as DATABASE_URL; {backends.<label>.<name>} is filled in."

    @model_validator(mode="after")
    def _app_fits(self) -> Self:
        apps.check_directory(self.app, self.directory)
        apps.check_protocol(self.app, self.spoken())
        return self

    def spoken(self) -> tuple[str, ...]:
        """Return the protocols that it can serve with these options."""
        return self.speaks

    @property
    def known(self) -> App:
        """What is known of the app."""
        return apps.app_of(self.app)

    def needs(self) -> Iterable[Need]:
        """Return what the server imports, and what a built-in app imports."""
        own = [Need(module, INSTALL, "module") for module in self.modules]
        return [*own, *self.known.needs()]

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the code that is served."""
        return apps.fingerprint(self.app, self.directory, suite_folder)

    def folder(self, site: Site) -> Path:
        """Return the folder that the app is imported from."""
        return apps.folder_of(self.app, self.directory, site.suite_folder)

    def told(self, site: Site) -> dict[str, str]:
        """Return the environment of the server. Raises BenchforgeError when it is ambiguous."""
        own = {name: filled(text, site) for name, text in self.environment.items()}
        return site.environment(own)
