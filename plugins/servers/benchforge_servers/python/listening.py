"""Servers that listen on TCP, or on a unix socket for a proxy before them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from benchforge.plugin import Accepts, BenchforgeError, Probe, RightAnswer, Site
from benchforge_servers.python.app_server import AppServer


class ListeningServer(AppServer):
    """A server of apps whose socket the suite chooses."""

    listen: Literal["tcp", "unix"] = "tcp"
    "Socket on which the server listens. Only a proxy can connect to a unix socket."

    def socket(self, site: Site) -> Path:
        """Return the path of the unix socket."""
        return site.scratch / "http.sock"

    def bound(self, site: Site) -> str:
        """Return what it binds to, as gunicorn and its likes write it."""
        if self.listen == "unix":
            return f"unix:{self.socket(site)}"
        return f"{site.address}:{site.port}"

    def behind_proxy_only(self) -> bool:
        return self.listen == "unix"

    def ready(self, site: Site) -> Probe:
        return Accepts(self.socket(site)) if self.listen == "unix" else RightAnswer()

    def gives(self, site: Site) -> Mapping[str, str]:
        if self.listen == "unix":
            return {"socket": str(self.socket(site))}
        return {"url": self.url(site)}

    def url(self, site: Site) -> str:
        """Return the root of the server. Raises BenchforgeError when it has none."""
        if self.behind_proxy_only():
            raise BenchforgeError(
                f"servers.{site.label}: only a proxy can send requests to it",
                f"declare one: use = 'nginx', upstream = '{site.label}'",
            )
        return site.url
