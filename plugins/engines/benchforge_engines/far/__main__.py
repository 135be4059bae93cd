"""The far end of a pipe: lines of JSON in, lines of JSON out, and a lease.

Who holds the other end says something each second. When the pipe ends, or is silent for five
seconds, this process ends at once; the keeper sees that its pipe ended, and ends all below it. A
thread reads, so that a long call does not hide the silence.
"""

import json
import os
import queue
import select
import threading

from benchforge_engines import wire
from benchforge_engines.far.place import Place

_NO_LEASE = 3


def main() -> None:
    """Answer calls, one after another, until the lease ends."""
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints must not look like an answer
    calls: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(calls,), daemon=True).start()
    place = Place()
    while True:
        try:
            call = calls.get(timeout=place.every_s)
        except queue.Empty:
            if lost := place.tick():
                _write(out, wire.line({"lost": lost}))
            continue
        try:
            answer = {"id": call["id"], "value": place.answer(call["do"], call["with"])}
        except Exception as error:  # noqa: BLE001 - benchforge judges it, on its own machine
            answer = {"id": call["id"], "error": wire.error_of(error)}
        _write(out, wire.line(answer))


def _read(calls: "queue.SimpleQueue[dict[str, object]]") -> None:
    rest = b""
    while select.select([0], [], [], wire.LEASE_S)[0] and (got := os.read(0, 1 << 16)):
        *lines, rest = (rest + got).split(b"\n")
        for line in filter(None, lines):
            calls.put(json.loads(line))
    os._exit(_NO_LEASE)


def _write(out: int, content: bytes) -> None:
    while content:
        content = content[os.write(out, content) :]


if __name__ == "__main__":
    main()
