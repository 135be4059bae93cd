"""A mix by wrk or wrk2: the script that gives them the requests, and what each thread took."""

from pathlib import Path

from benchforge.plugin import Output, Target
from benchforge.plugin.load_tools import parsing

HOOK, STREAM = (Path(__file__).with_name(name) for name in ("wrk.lua", "stream.lua"))


def stream_environment(target: Target, threads: int) -> dict[str, str]:
    """Return what the script reads: where the requests are, and how many threads share them."""
    return {
        "BENCHFORGE_WRK_HOOK": str(HOOK),
        "BENCHFORGE_WRK_STREAM": str(target.stream),
        "BENCHFORGE_WRK_INDEX": str(target.index),
        "BENCHFORGE_WRK_THREADS": str(threads),
        "BENCHFORGE_WRK_TAKEN": str(target.folder / _taken_file(target)),
    }


def taken_of(output: Output) -> tuple[tuple[int, ...], int]:
    """Return how many records each thread took, and how often one began again.

    Without a mix there are none. Raises OutputDamaged where the script's file is not whole.
    """
    if not output.target.kinds:
        return (), 0
    with parsing(name := _taken_file(output.target)):
        rows = [tuple(map(int, line.split())) for line in output.file(name).splitlines()]
        if not rows or any(len(row) != len(("taken", "again")) or min(row) < 0 for row in rows):
            raise ValueError("not two counts for each thread")
        return tuple(taken for taken, _ in rows), sum(again for _, again in rows)


def _taken_file(target: Target) -> str:
    return f"wrk-{target.phase}-taken"
