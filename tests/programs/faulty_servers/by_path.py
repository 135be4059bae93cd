"""Misbehaves by path: what the recordings of load tools (tests/outputs/record.py) were made against.

    python by_path.py PORT [stalls|slowly]

With `stalls` it stands still for 200 ms of each second; with `slowly` each answer waits 10 ms. When
it is stopped with SIGTERM it prints how many connections it accepted, and how many requests came.
"""

import itertools, os, signal, socket, struct, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import listen, requests

PORT, MODE = int(sys.argv[1]), "".join(sys.argv[2:])
HELLO = b"Hello, World!\n"
SLOW_S, LATE_S, BRIEF_S = 0.2, 1.5, 0.01
WAITS_S = {"/hang": 60.0, "/slow": SLOW_S}
accepted, numbers = itertools.count(), itertools.count(1)
standing = threading.Lock()


def reply(path, number):
    odd = number % 2
    return {
        "/broken": (500, b"broken"),
        "/mixed": (500, b"broken") if odd else (200, HELLO),
        "/missing": (404, b"missing"),
        "/unavailable": (503 if odd else 200, HELLO),
        "/variable": (200, HELLO * (1 + number % 7)),
    }.get(path, (200, HELLO))


def serve(connection):
    next(accepted)
    for line, fields, body in requests(connection):
        if not answered(connection, line.decode("latin-1").split(), fields, body):
            break


def answered(connection, words, fields, body):
    """Whether the connection stays."""
    method, path, version = words
    if path == "/echo":
        head = (f"{name.decode()}: {value.decode()}" for name, value in fields.items())
        print(*words, *head, "|", body.decode(), file=sys.stderr, flush=True)
    number = next(numbers)
    late_s = LATE_S if path == "/late" and number % 20 == 0 else 0
    time.sleep(late_s or WAITS_S.get(path) or (BRIEF_S if MODE == "slowly" else 0))
    with standing:
        pass
    if path == "/empty":
        return False
    if path == "/reset" and number % 50 == 0:
        # Closing with a linger time of zero sends RST instead of FIN.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False
    status, body = reply(path, number)
    cut = path == "/halves" or (path == "/half" and number % 10 == 0)
    keeps = b"keep-alive" in fields.get(b"connection", b"").lower() or version == "HTTP/1.1"
    head = f"HTTP/1.1 {status} {'' if path == '/wordless' else 'X'}\r\nServer: faults/1\r\n"
    head += (
        f"Content-Length: {len(body)}\r\nConnection: {'keep-alive' if keeps else 'close'}\r\n\r\n"
    )
    sent = b"" if method == "HEAD" else body[: len(body) // 2] if cut else body
    connection.sendall(head.encode() + sent)
    return keeps and not cut and path != "/closes"


def stop(*_):
    print(next(accepted), next(numbers) - 1, flush=True)
    os._exit(0)


def stall_each_second():
    while True:
        time.sleep(1 - SLOW_S)
        with standing:
            time.sleep(SLOW_S)


signal.signal(signal.SIGTERM, stop)
if MODE == "stalls":
    threading.Thread(target=stall_each_second, daemon=True).start()
listen(socket.create_server(("127.0.0.1", PORT), backlog=1024), serve)
