"""Processes of a run, found from outside: by their place below another, or by a mark."""

import contextlib
from pathlib import Path


def descendant(label: int, word: str) -> int | None:
    """The pid of a process below `of` whose command line begins with a program named `word`.

    Not of one that is only asked for its version, as each program is when a run begins.
    """
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    below = [label]
    for pid in below:
        below += children.get(pid, [])
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            request = words[1:2] in ([b"-v"], [b"-V"], [b"--version"])
            if Path(words[0].decode()).name == word and pid != label and not request:
                return pid
    return None


def marked(mark: str) -> list[str]:
    """The command lines of all processes that carry a mark."""
    lines = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if mark in line:
                lines.append(line)
    return lines
