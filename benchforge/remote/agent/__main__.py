"""The far end of a pipe: lines of JSON in and out, and a lease.

The other end sends each second. When the pipe ends, or is silent for five seconds, this process
ends at once, and with it the keeper. A thread reads, so that a long call does not hide the silence.
"""

import json
import os
import queue
import select
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic_core import to_json

from benchforge.remote import wire

_NO_LEASE = 3
_writing = threading.Lock()


def main() -> None:
    """Answer calls, one after another, until the lease ends."""
    write = partial(_write, os.dup(1))
    os.dup2(2, 1)  # what a library prints must not look like an answer
    calls: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(calls, write), daemon=True).start()
    from benchforge.remote.agent.place import Place  # noqa: PLC0415 - the lease runs meanwhile
    from benchforge.remote.answers import CallAnswer, FailedCall, LostTrial, SentError  # noqa: PLC0415

    host_place = Place()
    while True:
        try:
            call = calls.get(timeout=host_place.every_s)
        except queue.Empty:
            if lost := host_place.tick():
                write(to_json(LostTrial(reason=lost)) + b"\n")
            continue
        try:
            value = host_place.answer(call["do"], call["with"])
            answer = to_json(CallAnswer[Any](id=call["id"], value=value))
        except Exception as error:  # noqa: BLE001 - benchforge judges it, on its own machine
            answer = to_json(FailedCall(id=call["id"], error=SentError.from_error(error)))
        write(answer + b"\n")


def _write(file: int, content: bytes) -> None:
    """Write whole lines to the pipe of answers, which two threads do."""
    with _writing:
        while content:
            content = content[os.write(file, content) :]


def _read(calls: "queue.SimpleQueue[dict[str, Any]]", write: Callable[[bytes], None]) -> None:
    """Take calls; send beats, which are empty lines, back. However it ends, the process ends."""
    rest = b""
    try:
        while select.select([0], [], [], wire.LEASE_S)[0] and (got := os.read(0, 1 << 16)):
            *lines, rest = (rest + got).split(b"\n")
            for line in lines:
                if line:
                    calls.put(json.loads(line))
                else:
                    write(b"\n")
    finally:
        os._exit(_NO_LEASE)


if __name__ == "__main__":
    main()
