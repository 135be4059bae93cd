"""Serve a WSGI app with cheroot: a plain program, which runs where benchforge is not installed."""

from benchforge_target import arguments, target
from cheroot.wsgi import Server


def main() -> None:
    """Serve it with threads, until a signal ends the process."""
    options = arguments(__doc__, threads=int, timeout=float, keep_alive_connections=int)
    server = Server(
        (options.host, options.port),
        target(options),
        numthreads=options.threads,
        request_queue_size=options.backlog,
        timeout=options.timeout,
    )
    server.keep_alive_conn_limit = options.keep_alive_connections
    server.start()


if __name__ == "__main__":
    main()
