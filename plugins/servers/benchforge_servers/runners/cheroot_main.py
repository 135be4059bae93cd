"""Serve a WSGI app with cheroot: a plain program, which runs where benchforge is not installed."""

from benchforge_target import arguments, target
from cheroot.wsgi import Server


def main() -> None:
    """Serve it with threads, until a signal ends the process."""
    parser = arguments(__doc__)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--timeout", type=float, required=True, help="seconds")
    parser.add_argument("--keep-alive-connections", type=int, required=True)
    options = parser.parse_args()
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
