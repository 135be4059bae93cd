"""CherryPy with its own server, for its own apps and for WSGI."""

from typing import ClassVar

from benchforge.plugin import Command, Site
from benchforge_servers.wsgi.cheroot import Cheroot


class Cherrypy(Cheroot):
    """A CherryPy app, or a WSGI app next to CherryPy's own, in a single process.

    The app is an Application, an object with exposed methods, or its class. A WSGI app is grafted:
    CherryPy's server serves it, but CherryPy's tools do not apply to it.

    Good to know: the defaults are those of CherryPy and of study CP: 10 threads, a backlog of 5.
    The notes on cheroot apply. `production = false` leaves the configuration without an
    environment, as in the study: error pages then show the traceback. The server never reloads
    code and writes no access log.
    """

    name: ClassVar[str] = "cherrypy"

    speaks: ClassVar[tuple[str, ...]] = ("cherrypy", "wsgi")
    modules: ClassVar[tuple[str, ...]] = ("cherrypy", "cheroot")

    production: bool = True
    "CherryPy's environment: production or not."

    def command(self, site: Site) -> Command | None:
        words = self.words("threads", "timeout", "keep_alive_connections", "production")
        return self.run_by("cherrypy_main.py", site, *words)
