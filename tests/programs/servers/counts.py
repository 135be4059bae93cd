"""Counts the connections and the requests that it really gets; prints both when it is ended.

It answers as its arguments say: right, with another status, by a body cut short, with a close that
is told or not, or with a body whose length changes.
"""

import argparse, json, signal, socket, sys, threading

from wire import listen, requests

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--certificate", help="PEM file with key and certificate: speak TLS")
parser.add_argument("--status", type=int, default=200)
parser.add_argument("--body", default='{"result":2}')
ways = ["right", "close-told", "close", "half", "reset", "grows"]
parser.add_argument("--way", choices=ways, default="right")
parser.add_argument("--every", type=int, default=1, help="go that way at every so many requests")
options = parser.parse_args()
tls = None
if options.certificate:
    import ssl  # seldom needed, and as much work as all else here

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(options.certificate)
observed = {"connections": 0, "requests": 0, "answered": 0, "asked": []}
lock = threading.Lock()


def serve(connection):
    with lock:
        observed["connections"] += 1
    with tls.wrap_socket(connection, server_side=True) if tls else connection as wrapped:
        for line, fields, body in requests(wrapped):
            headers = {name.decode(): value.decode() for name, value in fields.items()}
            with lock:
                observed["requests"] += 1
                number = observed["requests"]
                if number <= 3:
                    observed["asked"].append([line.decode().split()[:2], headers, body.decode()])
            way = options.way if number % options.every == 0 else "right"
            if way == "reset":
                return
            wrapped.sendall(answer(way, number, line.startswith(b"HEAD")))
            with lock:
                observed["answered"] += 1
            if way in {"close", "close-told", "half"} or headers.get("connection") == "close":
                return


def answer(way, number, is_head):
    body = options.body.encode() + (b" " * number if way == "grows" else b"")
    text = f"HTTP/1.1 {options.status} Said\r\nContent-Type: application/json\r\n"
    if options.status in {301, 302}:
        text += "Location: /elsewhere\r\n"
    text += f"Content-Length: {len(body)}\r\n"
    if way == "close-told":
        text += "Connection: close\r\n"
    sent = b"" if is_head else body[: len(body) // 2] if way == "half" else body
    return text.encode() + b"\r\n" + sent


def end(*_):
    with lock:
        print(json.dumps(observed), flush=True)
    sys.exit()


signal.signal(signal.SIGTERM, end)
listen(socket.create_server(("127.0.0.1", options.port), backlog=1024), serve)
