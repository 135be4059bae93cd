"""Answers questions rightly and a load otherwise: otherwise.py PORT FAULT [SECONDS].

An answer takes so many seconds. A question is asked by benchforge: it takes no encoding and names no agent. Some faults show only
under a load, whoever asks: with several connections, to one request in ten or a hundred, or from
the second request of a connection on. It ends by itself after a minute.
"""

import gzip, itertools, os, random, resource, socket, sys, threading, time

PORT, FAULT = int(sys.argv[1]), sys.argv[2]
TAKES_S = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
LIFE_S = 60
BODY = b'{"message":"pong"}'  # 18 bytes
ERROR = b'{"error": "too many connections, please try again later"}\r\n'  # 59 bytes
LARGE = b"pong" * 1000
WRONG = b'{"message":"gnop"}'  # as long as the right body
RARE = 1000
OFTEN = {"tenth": 10, "hundredth": 100}
SEVERAL = 4  # connections
# To a load: the status, and the body.
OTHERWISE = {
    "302": ("302 Found\r\nLocation: /login", b""),
    "302-same": ("302 OK", BODY),
    "206": ("206 Partial Content", BODY[:9]),
    "206-same": ("206 OK", BODY),
    "203": ("203 Non-Authoritative Information", ERROR),
    "203-same": ("203 Non-Authoritative Information", BODY),
    "empty": ("200 OK", b""),
    "error": ("200 OK", ERROR),
    "gzip": ("200 OK\r\nContent-Encoding: gzip", gzip.compress(LARGE)),
}
numbers = itertools.count(1)
connected = 0
counting = threading.Lock()


def deceives(nth: int, *, loads: bool) -> bool:
    """Whether the nth request of a connection is answered with a wrong body, as long as a right one."""
    if FAULT in OFTEN:
        # Not to the questions before a load: by chance one of them would see it.
        return connected > 1 and random.randrange(OFTEN[FAULT]) == 0
    if FAULT == "later":
        return nth > 1
    if FAULT == "busy":
        return connected >= SEVERAL
    return FAULT == "encoded" and loads


def reply(number: int, nth: int, *, loads: bool) -> bytes:
    status, body = "200 OK", LARGE if FAULT == "gzip" else BODY
    if deceives(nth, loads=loads):
        body = WRONG
    if FAULT == "500":
        status = "500 Internal Server Error"
    elif FAULT == "grows":
        body = b'{"id": %d}' % number
    elif loads and FAULT == "rare":
        body = body if number % RARE else ERROR
    elif loads and FAULT == "few-302":
        status = status if number % RARE else "302 Found"
    elif loads and FAULT in OTHERWISE:
        status, body = OTHERWISE[FAULT]
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
    if FAULT == "chunked":
        half = len(body) // 2
        parts = (body[:half], body[half:], b"")
        framed = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
        return f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + framed
    return f"{head}Content-Length: {len(body)}\r\n".encode() + b"\r\n" + body


def serve(connection: socket.socket) -> None:
    global connected
    nth = 0
    with counting:
        connected += 1
    try:
        file = connection.makefile("rb")
        while line := file.readline():
            nth += 1
            identity = agent = False
            keeps = line.endswith(b"1.1\r\n")
            length = 0
            while field := file.readline().strip().lower():
                identity = identity or field == b"accept-encoding: identity"
                agent = agent or field.startswith(b"user-agent:")
                if field.startswith(b"connection:"):
                    keeps = not field.endswith(b"close")
                if field.startswith(b"content-length:"):
                    length = int(field.split(b":")[1])
            file.read(length)
            answer = reply(next(numbers), nth, loads=agent or not identity)
            if TAKES_S:
                time.sleep(TAKES_S)
            if not line.endswith(b"1.1\r\n") and keeps:
                answer = answer.replace(b"\r\n\r\n", b"\r\nConnection: keep-alive\r\n\r\n", 1)
            connection.sendall(answer)
            if not keeps:
                break
    except OSError:
        pass  # a load tool that leaves at its end is no error
    finally:
        with counting:
            connected -= 1
        connection.close()


resource.setrlimit(resource.RLIMIT_CPU, (LIFE_S, LIFE_S))
threading.stack_size(256 << 10)
threading.Timer(LIFE_S, os._exit, (1,)).start()
server = socket.create_server(("127.0.0.1", PORT), backlog=1024)
while True:
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
