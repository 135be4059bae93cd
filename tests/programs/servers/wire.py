"""What servers on plain sockets share: whole requests, a thread for each connection, an end."""

import os, socket, threading, time

connections = set()  # those that are open


def listen(server, serve, pause_s=0.0):
    """Have a thread serve each connection; wait before each is accepted."""
    while True:
        time.sleep(pause_s)
        args = server.accept()[0], serve
        threading.Thread(target=served, args=args, daemon=True).start()


def served(connection, serve):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connections.add(connection)
    try:
        with connection:
            serve(connection)
    except OSError:
        pass  # a load tool that leaves at its end is no error
    connections.discard(connection)


def answer_each(port, answer):
    """Serve what a function makes of method, path, headers and body: status, body, headers.

    Where it is nothing, the connection is closed.
    """

    def serve(connection):
        for line, fields, body in requests(connection):
            method, path, _ = line.decode().split()
            if not (says := answer(method, path, fields, body)):
                break
            status, text, *headers = says
            lines = [f"{name}: {value}\r\n" for name, value in headers]
            head = f"HTTP/1.1 {status} X\r\n{''.join(lines)}Content-Length: {len(text)}\r\n\r\n"
            sent, keeps = as_wanted(head.encode() + text, line, fields)
            connection.sendall(sent)
            if not keeps:
                break

    listen(socket.create_server(("127.0.0.1", int(port)), backlog=128), serve)


def requests(connection):
    """Yield line, headers and body of each request: names of headers in lower case."""
    with connection.makefile("rb") as stream:
        while line := stream.readline():
            fields = {}
            while field := stream.readline().strip():
                name, _, value = field.partition(b":")
                fields[name.lower()] = value.strip()
            body = stream.read(int(fields.get(b"content-length", 0)))
            yield line, fields, body


def as_wanted(answer, line, fields):
    """Return an answer with the word that HTTP/1.0 waits for, and whether the connection stays."""
    wants = fields.get(b"connection", b"").lower()
    if line.endswith(b"1.1\r\n"):
        return answer, b"close" not in wants
    keeps = b"keep-alive" in wants
    more = b"\r\nConnection: keep-alive" if keeps else b""
    return answer.replace(b"\r\n\r\n", more + b"\r\n\r\n", 1), keeps


def limit(seconds, cpu_s=60):
    """End by itself after so many seconds, or so many of CPU."""
    import resource  # seldom needed: hundreds of trials start a server

    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    threading.stack_size(256 << 10)
    threading.Timer(seconds, os._exit, (1,)).start()
