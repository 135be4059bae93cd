"""Kill a piece of code in each state that it leaves on the disk: `killed.py FOLDER CODE`.

CODE is a module's text with `ready(folder, number)`: it prepares the place of one attempt, and
returns what is to be killed. Each attempt is a fork. One is looked at before each of its lines, and
others are killed before each line that finds the disk otherwise than the line before did: nothing
else outlives a process. The last one ends by itself. Lines count that run in modules of ours and in
shutil, which removes and copies. Prints how many attempts there were.
"""

import functools
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

Code = Callable[[Path, int], Callable[[], object]]
AtLine = Callable[[int], None]


def traced(at_line: AtLine) -> Callable[[FrameType, str, Any], Any]:
    """A trace function that calls back before each line, with its number from 0."""
    number = -1

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal number
        file = frame.f_code.co_filename
        if "benchforge" not in file and not file.endswith(("shutil.py", "<string>")):
            return None
        if event == "line":
            number += 1
            at_line(number)
        return trace

    return trace


def killed(at_line: AtLine, ready: Code, folder: Path, number: int) -> bool:
    """Whether an attempt was killed before it ended."""
    if (pid := os.fork()) == 0:
        subject = ready(folder, number)
        sys.settrace(traced(at_line))
        subject()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def on_disk(folder: Path) -> list[tuple[object, ...]]:
    """What tells all that stands below a folder, and itself, from what stood there before."""
    observed = [(path, path.lstat()) for path in [folder, *sorted(folder.rglob("*"))]]
    return [
        (path, *subject[:2], subject.st_size, subject.st_mtime_ns) for path, subject in observed
    ]


def other_states(ready: Code, folder: Path) -> list[int]:
    """The lines that find the disk otherwise than the line before, and the first."""
    reader, writer = os.pipe()
    first: list[tuple[object, ...]] = []

    def look(line: int) -> None:
        nonlocal first
        if (newer := on_disk(folder.parent)) != first:
            os.write(writer, b"%d " % line)
        first = newer

    killed(look, ready, folder, 1)
    os.close(writer)
    with open(reader, "rb") as lines:
        return [int(line) for line in lines.read().split()]


def dies(first: int, line: int) -> None:
    if line == first:
        os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, code: str) -> int:
    """Return the number of attempts."""
    tempfile.gettempdir()  # at first it tries with a file of its own whether it can write there
    names: dict[str, Any] = {}
    exec(compile(code, "<string>", "exec"), names)
    ready: Code = names["ready"]
    killed(lambda _: None, ready, folder, 0)  # it makes what all attempts share
    number = 2
    for line in other_states(ready, folder):
        if not killed(functools.partial(dies, line), ready, folder, number):
            sys.exit(f"attempt {number} ended before its line {line}")
        number += 1
    if killed(lambda _: None, ready, folder, number):
        sys.exit("the last attempt did not end by itself")
    return number + 1


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2]))
