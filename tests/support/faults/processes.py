"""Processes of a run, found from outside: by their place below another, or by a mark."""

import contextlib
from pathlib import Path

from faults.standing import line, processes

from benchforge.run.sandbox.procfs import descendants


def descendant(label: int, word: str) -> int | None:
    """The pid of a process below `of` whose command line begins with a program named `word`.

    Not of one that is only asked for its version, as each program is when a run begins.
    """
    for pid in descendants(label):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            request = words[1:2] in ([b"-v"], [b"-V"], [b"--version"])
            if Path(words[0].decode()).name == word and pid != label and not request:
                return pid
    return None


def marked(mark: str) -> list[str]:
    """The command lines of all processes that carry a mark."""
    return [text for text in map(line, processes()) if mark in text]
