"""A server with one fault: turns.py PORT FAULT [SECONDS]. Most begin with the load: four
connections at once. An answer takes so many seconds. It ends by itself after a minute.
"""

import os, signal, socket, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import as_wanted, connections, limit, listen, requests

PORT, FAULT = int(sys.argv[1]), sys.argv[2]
LIFE_S = 60
LOADED = 4  # connections at once, of which a single question has one
WARMS_S, FLAPS_S, RUNS_S, STANDS_S, ACCEPTS_S, TAKES_S = 1.5, 1.0, 2.0, 4.0, 0.005, 0.01
SAME = b"pong" * 64
OTHER, SHORTER = b"gnop" * 64, b"po" * 64
ERROR, AWAY = "500 Internal Server Error", "503 Service Unavailable"
begun, loaded_at = time.monotonic(), 0.0
takes_s = TAKES_S if FAULT in {"slow", "frozen"} else 0.0
if len(sys.argv) > 3:
    takes_s = float(sys.argv[3])
answered = 0
lock = threading.Lock()
reader, writer = os.pipe()
# What each fault changes of an answer; with `keeps` False the connection is closed.
CHANGES = {
    "large": {"body": SAME * 64},
    "closes": {"headers": b"Connection: close\r\n", "keeps": False},
    "closes-unsaid": {"keeps": False},
    "old": {"version": "1.0", "keeps": False},
    "old-keeps": {"version": "1.0", "headers": b"Connection: keep-alive\r\n"},
    "more-headers": {"headers": b"X-Much: " + b"x" * 300 + b"\r\n"},
    "other-type": {"kind": "html"},
    **dict.fromkeys(("all-500", "tools-500", "some-500"), {"status": ERROR}),
    **dict.fromkeys(("warming", "flapping", "load-503"), {"status": AWAY}),
    **dict.fromkeys(("another-body", "some-wrong", "turns"), {"body": OTHER}),
    "tools-shorter": {"body": SHORTER},
}


def reply(number: int, loaded_s: float | None, *, is_tool: bool) -> tuple[bytes, bool]:
    """What is sent to this request, in the seconds since the load began, and whether it is kept."""
    loaded = loaded_s is not None and len(connections) >= LOADED
    applies = {
        "warming": time.monotonic() - begun < WARMS_S,
        "flapping": number % 3 == 2 and (loaded_s is None or loaded),
        "tools-500": is_tool,
        "tools-shorter": is_tool,
        "some-wrong": loaded and number % 10 == 0,
        "some-500": loaded and number % 100 == 0,
        "load-503": loaded_s is not None and loaded_s < FLAPS_S,
        "turns": loaded_s is not None and loaded_s > FLAPS_S,
    }
    usual = {"status": "200 OK", "body": SAME, "version": "1.1", "headers": b"", "kind": "plain"}
    says = usual | (CHANGES.get(FAULT, {}) if applies.get(FAULT, True) else {})
    head = f"HTTP/{says['version']} {says['status']}\r\nContent-Type: text/{says['kind']}\r\n"
    head += f"Content-Length: {len(says['body'])}\r\n"
    return head.encode() + says["headers"] + b"\r\n" + says["body"], says.get("keeps", True)


def serve(connection: socket.socket) -> None:
    global answered, loaded_at
    if FAULT == "two-writes":
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    with lock:
        if len(connections) >= LOADED and not loaded_at:
            loaded_at = time.monotonic()
            os.write(writer, b"!")
    for line, fields, _ in requests(connection):
        with lock:
            answered += 1
            number = answered
        loaded_s = time.monotonic() - loaded_at if loaded_at else None
        # Who asks for no encoding is no single question.
        answer, keeps = reply(number, loaded_s, is_tool=b"accept-encoding" not in fields)
        with_word, wanted = as_wanted(answer, line, fields)
        if keeps and FAULT != "old-keeps":
            answer = with_word
        time.sleep(takes_s)
        if FAULT == "two-writes":  # the second waits until the first is acknowledged
            head, _, body = answer.partition(b"\r\n\r\n")
            connection.sendall(head + b"\r\n\r\n")
            answer = body
        connection.sendall(answer)
        if not keeps or (not wanted and FAULT != "lets-close"):
            break


def stands_still(label: int) -> None:
    """Stop a process for a while once it is loaded, and end with it."""
    os.close(writer)
    if os.read(reader, 1):
        time.sleep(RUNS_S)
        os.kill(label, signal.SIGSTOP)
        time.sleep(STANDS_S)
        os.kill(label, signal.SIGCONT)
    while os.getppid() == label:
        time.sleep(0.1)


if FAULT == "frozen":
    parent = os.getpid()
    if not os.fork():
        stands_still(parent)
        os._exit(0)
limit(LIFE_S)
if FAULT == "deaf":
    time.sleep(LIFE_S)
slow = FAULT in {"small-queue", "slow-accept"}
backlog = 2 if FAULT == "small-queue" else 1024
listen(socket.create_server(("127.0.0.1", PORT), backlog=backlog), serve, ACCEPTS_S * slow)
