"""Answers single requests rightly, and lies to a load: loaded.py PORT FAULT [SECONDS [ADDRESS]].

A single request is benchforge's: it takes no encoding and names no agent. Some faults show under a
load only, whoever asks: with several connections, to a share of the requests, or late on one. An
answer takes so many seconds. It ends by itself after a minute.
"""

import gzip, itertools, random, socket, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import as_wanted, limit, listen, requests

PORT, FAULT = int(sys.argv[1]), sys.argv[2]
TAKES_S = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
ADDRESS = sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1"
OLD_S, TOGETHER_S = 0.1, 0.02
NTH, TOTAL, RARE = 20, 1000, 1000  # requests of a connection, and of all
PONG = b'{"message":"pong"}'  # 18 bytes
ERROR = b'{"error": "too many connections, please try again later"}\r\n'  # 59 bytes
LARGE = b"pong" * 1000
# By its fault: the right body, and the wrong one, as long.
BODIES = {
    "login": (b'{"user":"Ada Lovelace"}', b"<form>Log in</form>".ljust(23)),
    "graphql": (b'{"data":{"user":"Ada"}}', b'{"errors":["time out"]}'),
    "order": (b'{"order":7,"paid":true}', b'{"order":7,"lost":true}'),
    "truncated": (PONG, b'{"message":"po    '),
    "gzip": (LARGE, LARGE),
}
RIGHT, WRONG = BODIES.get(FAULT, (PONG, b'{"message":"gnop"}'))
# Shares of the requests that have the wrong one while several connections are open.
SHARES = dict.fromkeys(("above", "busy", "zipped", "truncated", "login"), 1.0)
SHARES |= {"graphql": 0.03, "percent": 0.01, "order": 0.5, "tenth": 0.1, "hundredth": 0.01}
SEVERAL = {"tenth": 2, "hundredth": 2, "above": 5}.get(FAULT, 4)
# To a load: the status, and the body.
OTHERWISE = {
    "302": ("302 Found\r\nLocation: /login", b""),
    "302-same": ("302 OK", PONG),
    "206": ("206 Partial Content", PONG[:9]),
    "206-same": ("206 OK", PONG),
    "203": ("203 Non-Authoritative Information", ERROR),
    "203-same": ("203 Non-Authoritative Information", PONG),
    "empty": ("200 OK", b""),
    "error": ("200 OK", ERROR),
    "gzip": ("200 OK\r\nContent-Encoding: gzip", gzip.compress(LARGE)),
}
numbers = itertools.count(1)
open_since = []
counting = threading.Lock()


def reply(number, nth, age_s, *, together, loads, zips, chunks):
    """The answer to the nth request of a connection, the number-th of all."""
    several = len(open_since) >= SEVERAL
    wrong = {
        "encoded": loads,
        "later": nth > 1,
        "nth": nth >= NTH,
        "old": age_s > OLD_S,
        "together": together,
        "total": number > TOTAL and several,
    }.get(FAULT, several and random.random() < SHARES.get(FAULT, 0.0))
    status, body = "200 OK", WRONG if wrong else RIGHT
    if FAULT == "500":
        status = "500 Internal Server Error"
    elif FAULT == "grows":
        body = b'{"id": %d}' % number
    elif loads and FAULT == "rare":
        body = body if number % RARE else ERROR
    elif loads and FAULT == "few-302":
        status = status if number % RARE else "302 Found"
    elif loads:
        status, body = OTHERWISE.get(FAULT, (status, body))
    if FAULT == "zipped" and zips:
        status, body = f"{status}\r\nContent-Encoding: gzip", gzip.compress(body)
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
    if FAULT == "chunked" or (FAULT == "truncated" and chunks):
        halves = (body[: len(body) // 2], body[len(body) // 2 :], b"")
        framed = b"".join(b"%x\r\n%s\r\n" % (len(half), half) for half in halves)
        return f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + framed
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def serve(connection):
    since = time.monotonic()
    with counting:
        together = sum(since - begun < TOGETHER_S for begun in open_since) > 1
        open_since.append(since)
    try:
        for nth, (line, fields, _) in enumerate(requests(connection), 1):
            encoding = fields.get(b"accept-encoding", b"")
            answer = reply(
                *(next(numbers), nth, time.monotonic() - since),
                together=together,
                loads=b"user-agent" in fields or encoding != b"identity",
                zips=b"gzip" in encoding,
                chunks=line.endswith(b"1.1\r\n"),
            )
            time.sleep(TAKES_S)
            answer, keeps = as_wanted(answer, line, fields)
            connection.sendall(answer)
            if not keeps:
                break
    finally:
        with counting:
            open_since.remove(since)


limit(60)
listen(socket.create_server((ADDRESS, PORT), backlog=1024), serve)
