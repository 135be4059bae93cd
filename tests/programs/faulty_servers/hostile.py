"""Answers so as to hurt who asks; each path is a way. `hostile.py PORT [CERTIFICATE | HANDSHAKE]`.

HANDSHAKE is a way to shake hands over TLS; with a certificate it is done rightly.
"""

import gzip, socket, ssl, sys, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import listen, requests

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(b"\0" * (8 << 20))


def once(answer):
    return answer, None, 0


# By the path: what is sent first, then again and again, with a pause in seconds between.
WAYS = {
    "/silence": (b"", b"", 1),
    "/status-drips": (b"", b"H", 0.2),
    "/continue-drips": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.2),
    "/continue-floods": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, 0),
    "/header-drips": (OK + b"X: ", b"x", 0.2),
    "/header-floods": (OK + b"X: ", b"x" * 65536, 0),
    "/headers-flood": (OK, b"X: x\r\n" * 10000, 0),
    "/headers-fill": once(OK + (b"X: " + b"x" * 60000 + b"\r\n") * 90 + b"\r\n"),
    "/body-drips": (OK + b"Content-Length: 1000000\r\n\r\n", b"x", 0.2),
    "/events-drip": (OK + b"Content-Type: text/event-stream\r\n\r\n", b"data: x\n\n", 0.2),
    "/chunks-drip": (CHUNKED, b"1\r\nx\r\n", 0.2),
    "/trailers-drip": (CHUNKED + b"0\r\n", b"X: x\r\n", 0.2),
    "/trailers-flood": (CHUNKED + b"0\r\n", b"X: x\r\n" * 10000, 0),
    "/body-floods": (OK + b"\r\n", b"x" * 65536, 0),
    "/chunks-flood": (CHUNKED, b"1\r\nx\r\n" * 10000, 0),
    "/chunk-below-zero": (CHUNKED, b"-2\r\nxx\r\n", 0),
    "/chunk-of-words": once(CHUNKED + b"many\r\nx\r\n"),
    "/chunk-huge": once(CHUNKED + b"f" * 60000 + b"\r\nx"),
    "/length-too-long": once(OK + b"Content-Length: 9\r\n\r\npong"),
    "/length-huge": once(OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\npong"),
    "/length-twice": once(OK + b"Content-Length: 4\r\nContent-Length: 900\r\n\r\npong"),
    "/ends-in-mid-answer": once(OK + b"Content-Le"),
    "/not-http": once(bytes(range(256)) * 300),
    "/elsewhere": once(b"HTTP/1.1 302 Found\r\nLocation: /body-drips\r\nContent-Length: 0\r\n\r\n"),
    "/bomb": once(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB),
    "/deep": once(OK + b"Content-Length: 100000\r\n\r\n" + b"[" * 100000),
    "/right": once(OK + b"Content-Length: 4\r\n\r\npong"),
}
RECORD = b"\x16\x03\x03"  # of a handshake, before its length
HANDSHAKES = {
    "silence": (b"", b"", 1),
    "drips": (RECORD + b"\x20\x00\x02\x00\x1f\xf0\x03\x03", b"x", 0.2),
    "floods": (b"", RECORD + b"\x40\x00" + b"\x00" * 0x4000, 0),
}
tls = None
if len(sys.argv) > 2 and sys.argv[2] not in HANDSHAKES:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(sys.argv[2])


def serve(connection):
    if sys.argv[2:] and tls is None:
        sends(connection, *HANDSHAKES[sys.argv[2]])
        return
    with tls.wrap_socket(connection, server_side=True) if tls else connection as wrapped:
        for line, _, _ in requests(wrapped):
            sends(wrapped, *WAYS[line.split()[1].decode()])
            break


def sends(connection, first, again, pause):
    connection.sendall(first)
    while again is not None:
        connection.sendall(again)
        time.sleep(pause)


server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128)
print(server.getsockname()[1], flush=True)
listen(server, serve)
