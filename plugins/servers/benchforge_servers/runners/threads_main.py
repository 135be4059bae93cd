"""Serve a socket app with a thread for each connection: a plain program, of Python alone."""

import socket
import threading

from benchforge_socket import answer
from benchforge_target import arguments, target


def main() -> None:
    """Accept for ever; each connection gets a thread that ends with it."""
    options = arguments(__doc__)
    app = target(options)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
        listener.listen(options.backlog)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection, app), daemon=True).start()


if __name__ == "__main__":
    main()
