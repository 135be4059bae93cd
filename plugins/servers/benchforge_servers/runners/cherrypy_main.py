"""Serve what CherryPy serves: a plain program, which runs where benchforge is not installed."""

import logging
from typing import Any

import cherrypy
from benchforge_target import arguments, target
from cheroot.server import HTTPServer


def main() -> None:
    """Mount the app, or graft a WSGI app, and serve it without an access log."""
    kinds = {"threads": int, "timeout": float, "keep_alive_connections": int, "production": bool}
    options = arguments(__doc__, **kinds)
    # What an app sets while it is imported comes before, so that nothing below is lost.
    app = target(options)
    if options.production:
        cherrypy.config.update({"environment": "production"})
    cherrypy.config.update(
        {
            "engine.autoreload.on": False,
            "log.screen": False,
            "server.socket_host": options.host,
            "server.socket_port": options.port,
            "server.socket_queue_size": options.backlog,
            "server.socket_timeout": options.timeout,
            "server.thread_pool": options.threads,
        }
    )
    # The screen is for access and errors alike; errors are worth a line.
    cherrypy.log.error_log.setLevel(logging.WARNING)
    cherrypy.log.error_log.addHandler(logging.StreamHandler())
    HTTPServer.keep_alive_conn_limit = options.keep_alive_connections
    put(app)
    # The engine's own end takes half a second, and two where a client keeps a connection. Without
    # its signal handlers, TERM ends the process at once.
    cherrypy.engine.start()
    cherrypy.engine.block()


def put(app: Any) -> None:
    """Put an Application, a class or an object with exposed methods, or a WSGI app at the root."""
    if isinstance(app, type):
        app = app()
    if callable(app) and not isinstance(app, cherrypy.Application) and not exposes(app):
        cherrypy.tree.graft(app, "/")
    else:
        cherrypy.tree.mount(app, "")


def exposes(app: Any) -> bool:
    """Whether it is an object that CherryPy finds handlers in."""
    names = [name for name in dir(app) if not name.startswith("_")]
    return any(getattr(getattr(app, name, None), "exposed", False) for name in ("exposed", *names))


if __name__ == "__main__":
    main()
