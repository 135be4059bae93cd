"""Notes when benchforge prints, and when its interpreter collects garbage, as a sitecustomize.

The file of the variable SILENCE gets a line for each: program, time in ns on the monotonic clock,
`print` or `collect`, bytes or generation. Descriptors count, not objects: whoever writes to 1 or 2
is noted. Standard error looks like a terminal, so that each phase is printed.
"""

import gc
import io
import os
import sys
import time

PROGRAM = next((word for word in sys.orig_argv if word.startswith("benchforge")), "")
write = os.write


def note(kind: str, number: int) -> None:
    write(notes, f"{PROGRAM} {time.monotonic_ns()} {kind} {number}\n".encode())


class Stream(io.FileIO):
    """Standard output or standard error."""

    def write(self, data) -> int:
        return noted_write(self.fileno(), data)

    def isatty(self) -> bool:
        return self.fileno() == 2


def noted_write(descriptor: int, data) -> int:
    if descriptor in {1, 2}:
        note("print", len(data))
    return write(descriptor, data)


def collected(phase: str, facts: dict[str, int]) -> None:
    note("collect", facts["generation"])


if PROGRAM and "SILENCE" in os.environ:
    notes = os.open(os.environ["SILENCE"], os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    os.write = noted_write
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        raw = io.BufferedWriter(Stream(descriptor, "w", closefd=False))
        setattr(sys, name, io.TextIOWrapper(raw, line_buffering=True))
    gc.callbacks.append(collected)
    # benchforge's own threshold is so high that a short load proves nothing.
    gc.set_threshold(100)
    gc.set_threshold = lambda *_: None
    gc.collect()  # both are noted, so others would be
    print(file=sys.stderr)
