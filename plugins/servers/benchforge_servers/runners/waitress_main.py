"""Serve a WSGI app with waitress: a plain program, which runs where benchforge is not installed."""

import logging

from benchforge_target import arguments, target
from waitress import create_server


def main() -> None:
    """Serve it with threads, and print nothing of the requests that wait for one."""
    options = arguments(__doc__, threads=int, connection_limit=int, channel_timeout=int)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    create_server(
        target(options),
        host=options.host,
        port=options.port,
        threads=options.threads,
        backlog=options.backlog,
        connection_limit=options.connection_limit,
        channel_timeout=options.channel_timeout,
    ).run()


if __name__ == "__main__":
    main()
