"""Answers single requests rightly, and lies to the connections of a load: loaded.py PORT FAULT [SECONDS [ADDRESS]].

A wrong body is as long as the right one. An answer takes so many seconds. It ends by itself after a minute.
"""

import gzip, itertools, os, random, resource, socket, sys, threading, time

PORT, FAULT = int(sys.argv[1]), sys.argv[2]
TAKES_S = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
ADDRESS = sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1"
LIFE_S, OLD_S, TOGETHER_S = 60, 0.1, 0.02
SEVERAL, NTH, TOTAL = 4, 20, 1000  # connections at once; requests of a connection, and of all
# By its fault: the right body, and the wrong one.
BODIES = {
    "login": (b'{"user":"Ada Lovelace"}', b"<form>Log in</form>".ljust(23)),
    "graphql": (b'{"data":{"user":"Ada"}}', b'{"errors":["time out"]}'),
    "order": (b'{"order":7,"paid":true}', b'{"order":7,"lost":true}'),
    "truncated": (b'{"message":"pong"}', b'{"message":"po    '),
}
RIGHT, WRONG = BODIES.get(FAULT, (b'{"message":"pong"}', b'{"message":"gnop"}'))
SHARES = {"graphql": 0.03, "percent": 0.01, "order": 0.5}
numbers = itertools.count(1)
open_since: list[float] = []
connected = 0
counting = threading.Lock()


def deceives(nth: int, since: float, number: int, *, together: bool) -> bool:
    """Whether the nth request of a connection is answered wrongly; it is the number-th of all."""
    if FAULT == "nth":
        return nth >= NTH
    if FAULT == "old":
        return time.monotonic() - since > OLD_S
    if FAULT == "together":
        return together
    if FAULT == "total":
        return number > TOTAL and connected >= SEVERAL
    several = connected > SEVERAL if FAULT == "above" else connected >= SEVERAL
    return FAULT != "none" and several and random.random() < SHARES.get(FAULT, 1.0)


def reply(body: bytes, *, zips: bool, chunks: bool) -> bytes:
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    if zips:
        body = gzip.compress(body)
        head += "Content-Encoding: gzip\r\n"
    if FAULT == "truncated" and chunks:
        halves = (body[: len(body) // 2], body[len(body) // 2 :], b"")
        framed = b"".join(b"%x\r\n%s\r\n" % (len(halve), halve) for halve in halves)
        return f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + framed
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def serve(connection: socket.socket) -> None:
    global connected
    since, nth = time.monotonic(), 0
    with counting:
        connected += 1
        together = sum(since - begun < TOGETHER_S for begun in open_since) > 1
        open_since.append(since)
    try:
        file = connection.makefile("rb")
        while line := file.readline():
            nth, length, zips, keeps = nth + 1, 0, False, line.endswith(b"1.1\r\n")
            while field := file.readline().strip().lower():
                name, _, value = field.partition(b":")
                if FAULT == "zipped" and name == b"accept-encoding":
                    zips = b"gzip" in value
                if name == b"connection":
                    keeps = not value.endswith(b"close")
                if name == b"content-length":
                    length = int(value)
            file.read(length)
            lies = deceives(nth, since, next(numbers), together=together)
            answer = reply(WRONG if lies else RIGHT, zips=zips, chunks=line.endswith(b"1.1\r\n"))
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
            open_since.remove(since)
        connection.close()


resource.setrlimit(resource.RLIMIT_CPU, (LIFE_S, LIFE_S))
threading.stack_size(256 << 10)
threading.Timer(LIFE_S, os._exit, (1,)).start()
server = socket.create_server((ADDRESS, PORT), backlog=1024)
while True:
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
