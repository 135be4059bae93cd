"""Answer HTTP rightly or wrongly, by path, over plain sockets. lies.py [CERTIFICATE KEY]

It prints its port, and how many connections it accepted when it is stopped with SIGTERM.
"""

import itertools, os, signal, socket, ssl, struct, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import listen, requests

OK = b"HTTP/1.1 200 OK\r\nServer: lies/1\r\nContent-Length: 4\r\n\r\npong"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LARGE = 100_000_000
FREEZE_S = 0.5
# What is sent, and whether the connection stays open after it.
REPLIES = {
    **dict.fromkeys(("/ok", "/freezes"), (OK, True)),
    "/closes": (OK, False),
    "/close": (OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), False),
    "/old": (b"HTTP/1.0 200 OK\r\n\r\npong", False),
    "/old-keeps": (OK.replace(b"/1.1 200 OK", b"/1.0 200 OK\r\nConnection: keep-alive"), True),
    "/until-close": (b"HTTP/1.1 200 OK\r\n\r\npong", False),
    "/chunked": (CHUNKED + b"1;a=b\r\np\r\n3\r\nong\r\n0\r\nX-T: 1\r\n\r\n", True),
    "/interim": (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK, True),
    "/204": (b"HTTP/1.1 204 No Content\r\n\r\n", True),
    "/304": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", True),
    "/500": (OK.replace(b"200", b"500"), True),
    "/short": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npong", False),
    "/long": (OK + b"pong", True),
    "/garbage": (bytes(range(256)), True),
    "/lengths": (OK.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"), True),
    "/nothing": (b"", False),
    "/cut-chunk": (CHUNKED + b"9\r\npong", False),
    "/halts": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npong", True),
}
accepted, answered = itertools.count(), 0
frozen = threading.Lock()
tls = None
if len(sys.argv) > 1:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*sys.argv[1:])


def serve(connection):
    global answered
    next(accepted)
    with tls.wrap_socket(connection, server_side=True) if tls else connection as wrapped:
        for line, _, _ in requests(wrapped):
            method, path, _ = line.decode().split(" ")
            answered += 1
            if not answer(wrapped, method, path):
                break


def answer(connection, method, path):
    with frozen:
        if path == "/freezes" and answered == 1:
            time.sleep(FREEZE_S)  # nobody is answered meanwhile
    if path == "/stalls":
        time.sleep(60)
    if path == "/resets":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RD)
        os.close(connection.detach())
        return False
    if path == "/dribbles":
        for byte in OK:
            connection.sendall(bytes([byte]))
            time.sleep(0.0005)
        return True
    if path == "/large":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LARGE)
        for _ in range(LARGE // 1_000_000):
            connection.sendall(b"x" * 1_000_000)
        return True
    if path == "/mixed":
        path = "/500" if answered % 2 else "/ok"
    reply, keeps = REPLIES[path]
    if method == "HEAD":
        reply = reply[: reply.index(b"\r\n\r\n") + 4]
    connection.sendall(reply)
    return keeps


def stop(number, frame):
    sys.stdout.write(f"{next(accepted)}\n")
    sys.stdout.flush()
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
server = socket.create_server(("127.0.0.1", 0), backlog=1024)
print(server.getsockname()[1], flush=True)
listen(server, serve)
