"""Servers that Python starts by the name of their module, with words that uvicorn made usual."""

from abc import ABC

from benchforge.plugin import Command, Site
from benchforge_servers.python.listening import ListeningServer


class ModuleServer(ListeningServer, ABC):
    """A server that takes --uds or --host and --port, and --factory for a function."""

    def started_by(self, module: str, site: Site, *words: object) -> Command:
        """Return the module's command, which works in the app's folder."""
        target = self.served_app.target
        return Command(
            *(site.python, "-m", module, *self._where(site), *words),
            *(["--factory"] if target.endswith("()") else []),
            target.removesuffix("()"),
            environment=self.process_environment(site),
            folder=self.folder(site),
        )

    def _where(self, site: Site) -> list[str]:
        if self.listen == "unix":
            return [f"--uds={self.socket(site)}"]
        return [f"--host={site.address}", f"--port={site.port}"]
