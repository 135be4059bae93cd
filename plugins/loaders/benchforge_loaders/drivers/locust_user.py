"""Requests by locust, as the file says that BENCHFORGE_LOCUST names: a single one, or a mix.

Of a mix each process takes every k-th record of the stream.
"""

import json
import mmap
import os
import struct
from http.cookiejar import DefaultCookiePolicy
from itertools import count
from pathlib import Path

import gevent
from locust import FastHttpUser, HttpUser, events, task
from locust.runners import WorkerRunner

TOLD = json.loads(Path(os.environ["BENCHFORGE_LOCUST"]).read_text())
# Offset and length of a record, the number of its kind, and of later steps: a mix has none.
ENTRY = struct.Struct("<QIHH")
# What the client writes itself.
OWN = {"host", "content-length", "connection"}


def mapped(path):
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class Records:
    """The records of this process, one after the other, for all of its users."""

    def __init__(self):
        self._content = mapped(TOLD["stream"])
        self._index = mapped(TOLD["index"])
        self._total = len(self._index) // ENTRY.size
        self.start(0)

    def start(self, part):
        self.part, self.taken, self.began_again = part, 0, 0
        self._places = self._walk()

    def _walk(self):
        for turn in count():
            self.began_again = turn
            yield from range(self.part, self._total, TOLD["parts"])

    def take(self):
        """Return the number of the kind, and the bytes of the next record."""
        offset, length, kind, _ = ENTRY.unpack_from(self._index, next(self._places) * ENTRY.size)
        self.taken += 1
        return kind, self._content[offset : offset + length]

    def printed(self):
        return {"taken": self.taken, "began_again": self.began_again}


RECORDS = Records() if "stream" in TOLD else None


@events.init.add_listener
def look_at_the_clock(**_):
    # Else gevent counts the run time from before the imports, and the load ends too early.
    gevent.get_hub().loop.update_now()


def start(environment, **_):
    runner = environment.runner
    RECORDS.start(runner.worker_index if isinstance(runner, WorkerRunner) else 0)


def stop(environment, **_):
    # A master sends nothing.
    if isinstance(environment.runner, WorkerRunner) or TOLD["parts"] == 1:
        file = Path(f"{TOLD['taken']}-{RECORDS.part}")
        file.write_text(json.dumps(RECORDS.printed()) + "\n")


if RECORDS is not None:
    events.test_start.add_listener(start)
    events.test_stop.add_listener(stop)


def parted(request):
    """Return method, path, headers and body of a request, as its user's client takes them."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    pairs = (line.split(": ", 1) for line in lines)
    headers = {name: value for name, value in pairs if name.lower() not in OWN}
    # Both kinds of users ask for gzip by themselves.
    headers.setdefault("Accept-Encoding", "identity")
    return method, path, headers, body or None


def next_request():
    """Return label, method, path, headers and body of the next request."""
    if RECORDS is None:
        return TOLD["path"], TOLD["method"], TOLD["path"], TOLD["headers"], TOLD["body"]
    kind, request = RECORDS.take()
    return TOLD["kinds"][kind], *parted(request)


def ask(self, **more):
    label, method, path, headers, body = next_request()
    with self.client.request(
        method, path, headers=headers, data=body, allow_redirects=False, catch_response=True, **more
    ) as answer:
        # Statistics are kept by name, and of statuses there are none: 0 where no answer came.
        answer.request_meta["name"] = f"{label} {answer.status_code}"


def keep_no_cookies(jar):
    """Cookies of answers would make requests that are not of the stream."""
    if RECORDS is not None:
        jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))


if TOLD["user"] == "fast":

    class Visitor(FastHttpUser):
        connection_timeout = network_timeout = TOLD["timeout"]

        def on_start(self):
            keep_no_cookies(self.client.cookiejar)

        @task
        def ask_next(self):
            ask(self)

else:

    class Visitor(HttpUser):
        def on_start(self):
            keep_no_cookies(self.client.cookies)

        @task
        def ask_next(self):
            ask(self, timeout=TOLD["timeout"])
