"""A server with one fault: turns.py PORT FAULT [SECONDS]. Most begin with the load: four connections at
once. An answer takes so many seconds.

It ends by itself after a minute.
"""

import os, resource, signal, socket, sys, threading, time

PORT, FAULT = int(sys.argv[1]), sys.argv[2]
LIFE_S = 60
LOADED = 4  # connections at once, of which a single question has one
WARMS_S, FLAPS_S, RUNS_S, STANDS_S, ACCEPTS_S, TAKES_S = 1.5, 1.0, 2.0, 4.0, 0.005, 0.01
SAME = b"pong" * 64
OTHER, SHORTER = b"gnop" * 64, b"po" * 64
begun, loaded_at = time.monotonic(), 0.0
takes_s = TAKES_S if FAULT in {"slow", "frozen"} else 0.0
if len(sys.argv) > 3:
    takes_s = float(sys.argv[3])
at_once = requests = 0
lock = threading.Lock()
reader, writer = os.pipe()


def reply(number: int, loaded_s: float | None, *, is_tool: bool) -> tuple[bytes, bool]:
    """What is sent to this request, in the seconds since the load began, and whether it is kept."""
    status, body, version, headers, keeps = "200 OK", SAME, "1.1", b"", True
    if FAULT == "large":
        body = SAME * 64
    elif FAULT == "all-500":
        status = "500 Internal Server Error"
    elif FAULT == "warming" and time.monotonic() - begun < WARMS_S:
        status = "503 Service Unavailable"
    elif FAULT == "flapping" and number % 3 == 2 and (loaded_s is None or at_once >= LOADED):
        status = "503 Service Unavailable"
    elif FAULT == "closes":
        headers, keeps = b"Connection: close\r\n", False
    elif FAULT == "closes-unsaid":
        keeps = False
    elif FAULT == "old":
        version, keeps = "1.0", False
    elif FAULT == "old-keeps":
        version, headers = "1.0", b"Connection: keep-alive\r\n"
    elif FAULT == "more-headers":
        headers = b"X-Much: " + b"x" * 300 + b"\r\n"
    elif FAULT == "another-body":
        body = OTHER
    elif is_tool and FAULT == "tools-500":
        status = "500 Internal Server Error"
    elif is_tool and FAULT == "tools-shorter":
        body = SHORTER
    elif loaded_s is not None:
        if FAULT == "some-wrong" and number % 10 == 0 and at_once >= LOADED:
            body = OTHER
        elif FAULT == "some-500" and number % 100 == 0 and at_once >= LOADED:
            status = "500 Internal Server Error"
        elif FAULT == "load-503" and loaded_s < FLAPS_S:
            status = "503 Service Unavailable"
        elif FAULT == "turns" and loaded_s > FLAPS_S:
            body = OTHER
    kind = "html" if FAULT == "other-type" else "plain"
    head = f"HTTP/{version} {status}\r\nContent-Type: text/{kind}\r\n"
    head += f"Content-Length: {len(body)}\r\n"
    return head.encode() + headers + b"\r\n" + body, keeps


def serve(connection: socket.socket) -> None:
    global at_once, requests, loaded_at
    with lock:
        at_once += 1
        if at_once == LOADED and not loaded_at:
            loaded_at = time.monotonic()
            os.write(writer, b"!")
    try:
        file = connection.makefile("rb")
        while line := file.readline():
            is_tool = True  # who asks for no encoding is no single question
            older = ends = line.endswith(b"1.0\r\n")
            while field := file.readline().strip().lower():
                is_tool = is_tool and not field.startswith(b"accept-encoding:")
                if field.startswith(b"connection:"):
                    ends = field.endswith(b"close")
            with lock:
                requests += 1
                number = requests
            loaded_s = time.monotonic() - loaded_at if loaded_at else None
            answer, keeps = reply(number, loaded_s, is_tool=is_tool)
            if older and keeps and not ends and FAULT != "old-keeps":  # it waits for this word
                answer = answer.replace(b"\r\n\r\n", b"\r\nConnection: keep-alive\r\n\r\n", 1)
            if takes_s:
                time.sleep(takes_s)
            if FAULT == "two-writes":  # the second waits until the first is acknowledged
                head, _, body = answer.partition(b"\r\n\r\n")
                connection.sendall(head + b"\r\n\r\n")
                answer = body
            connection.sendall(answer)
            if (ends and FAULT != "lets-close") or not keeps:
                break
    except OSError:
        pass  # a load tool that leaves at its end is no error
    finally:
        connection.close()
        with lock:
            at_once -= 1


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


resource.setrlimit(resource.RLIMIT_CPU, (LIFE_S, LIFE_S))
threading.stack_size(256 << 10)
if FAULT == "frozen":
    parent = os.getpid()
    if not os.fork():
        stands_still(parent)
        os._exit(0)
threading.Timer(LIFE_S, os._exit, (1,)).start()
if FAULT == "deaf":
    time.sleep(LIFE_S)
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", PORT))
server.listen(2 if FAULT == "small-queue" else 1024)
while True:
    if FAULT in {"small-queue", "slow-accept"}:
        time.sleep(ACCEPTS_S)
    connection, _ = server.accept()
    if FAULT != "two-writes":
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
