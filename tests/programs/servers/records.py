"""Writes down each request: records.py --port PORT [--log FILE] [--wait SECONDS] [--raw].

A line of the log has the number of the connection, the head without the header Host, and the body.
A path that begins with /slow is answered after ten times the wait, a POST with 201. With --raw a
line has the whole head, the body, and how that was framed: `length`, `chunked` or empty; a POST is
answered with 200.
"""

import argparse, itertools, json, socket, threading, time

from wire import as_wanted, listen

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--log")
parser.add_argument("--wait", type=float, default=0.003)
parser.add_argument("--raw", action="store_true")
options = parser.parse_args()
log = open(options.log, "a") if options.log else None
codec = "latin-1" if options.raw else "utf-8"
lock, numbers = threading.Lock(), itertools.count(1)


def serve(connection):
    number, stream = next(numbers), connection.makefile("rb")
    keeps = True
    while keeps and (line := stream.readline()):
        head, fields = line, {}
        while (field := stream.readline()) not in {b"\r\n", b""}:
            name, _, value = field.partition(b":")
            fields[name.lower()] = value.strip()
            if options.raw or name.lower() != b"host":
                head += field
        body = stream.read(int(fields.get(b"content-length", 0)))
        record = [number, head.decode(codec), body.decode(codec)]
        if options.raw:
            chunked = "chunked" if b"transfer-encoding" in fields else ""
            record = [*record[1:], "length" if b"content-length" in fields else chunked]
        if log is not None:
            with lock:
                log.write(json.dumps(record) + "\n")
                log.flush()
        answer, keeps = as_wanted(answered(*line.split()[:2]), line, fields)
        connection.sendall(answer)


def answered(method, path):
    time.sleep(options.wait * (10 if path.startswith(b"/slow") else 1))
    status = b"201 Created" if method == b"POST" and not options.raw else b"200 OK"
    text = json.dumps({"path": path.decode()}).encode()
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(text)) + (b"" if method == b"HEAD" else text)


listen(socket.create_server(("127.0.0.1", options.port), backlog=128), serve)
