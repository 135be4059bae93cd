"""Answers every request, as its arguments say: right, wrong, late, once, or never again.

Hundreds of trials start it: it imports little, and reads of a request what an answer needs.
"""

import os, socket, sys, threading, time

from wire import as_wanted, listen, requests

# A word of the command line each, as `--start-after 0.5`.
options = {
    "--port": 0,
    "--address": "127.0.0.1",
    "--status": 200,
    "--body": "pong",
    "--type": "text/plain",
    "--start-after": 0.0,  # listen only after so many seconds
    "--die-after": 0,  # exit at this request
    "--wrong-after": 0,  # answer something else from then on
    "--grows": 0,  # keep so many bytes of each answer
    "--log": 0,  # write so many bytes of each request to the standard error
    "--hang-after": 0,  # answer nothing from then on
    "--wait": 0.0,  # seconds before each answer
    "--jitter": 0.0,  # share that a process adds to it at most
}
closes = "--close" in sys.argv  # the connection after each answer
words = [word for word in sys.argv[1:] if word != "--close"]
for name, value in zip(words[::2], words[1::2], strict=True):
    options[name] = type(options[name])(value)
wait = options["--wait"]
if options["--jitter"]:
    import random  # as much work as all else here

    wait *= 1 + options["--jitter"] * random.random()
CLOSE = "Connection: close\r\n"
HEAD = (
    f"HTTP/1.1 {options['--status']} As told\r\n"
    f"Content-Type: {options['--type']}\r\n"
    f"{CLOSE if closes else ''}Content-Length: "
)
REFUSED = b"HTTP/1.1 501 Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
observed = 0
stored = []
lock = threading.Lock()


def serve(connection):
    for line, fields, _ in requests(connection):
        if not answered(connection, line, fields):
            break


def answered(connection, line, fields):
    """Whether the connection stays."""
    global observed
    _, stays = as_wanted(b"", line, fields)
    if not line.startswith((b"GET ", b"POST ")):
        connection.sendall(REFUSED)
        return False
    with lock:
        observed += 1
        number = observed
    if options["--die-after"] and number >= options["--die-after"]:
        print("dying as told", file=sys.stderr, flush=True)
        os._exit(3)
    if options["--hang-after"] and number >= options["--hang-after"]:
        time.sleep(60)
    time.sleep(wait)
    if options["--log"]:
        os.write(2, b"a request".ljust(options["--log"] - 1, b".") + b"\n")
    if options["--grows"]:
        stored.append(b"x" * options["--grows"])  # written to, or it would be no memory
    wrong = options["--wrong-after"] and number >= options["--wrong-after"]
    body = b"something else" if wrong else options["--body"].encode()
    connection.sendall(f"{HEAD}{len(body)}\r\n\r\n".encode() + body)
    return stays and not closes


time.sleep(options["--start-after"])
address = options["--address"], options["--port"]
family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
listen(socket.create_server(address, family=family, backlog=128), serve)
