"""Serve an aiohttp app: a plain program, which runs where benchforge is not installed."""

from typing import Any

from aiohttp import web
from benchforge_target import arguments, target


def main() -> None:
    """Serve it in this process, without an access log."""
    options = arguments(__doc__, keep_alive=float)
    app: Any = target(options)
    if callable(app) and not isinstance(app, web.Application):
        app = app()
    further = {} if options.keep_alive is None else {"keepalive_timeout": options.keep_alive}
    web.run_app(
        app,
        host=options.host,
        port=options.port,
        backlog=options.backlog,
        access_log=None,
        print=None,
        **further,
    )


if __name__ == "__main__":
    main()
