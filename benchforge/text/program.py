"""Names of programs of our environment, with which a printed command works."""

import shlex
import shutil
import sys
from pathlib import Path


def as_typed(name: str) -> str:
    """Return a program of our environment: by its name where PATH leads to it, else by its path."""
    program = Path(sys.executable).parent / name
    if not program.exists() or shutil.which(name) == str(program):
        return name
    return shlex.quote(str(program))


def program() -> str:
    """Return `benchforge`; or the path by which it was started, where PATH does not lead there."""
    started = Path(sys.argv[0]) if sys.argv else Path()
    if started.name != "benchforge" or not started.is_file():
        return "benchforge"
    on_path = shutil.which("benchforge")
    if on_path is not None and Path(on_path).samefile(started):
        return "benchforge"
    return shlex.quote(str(started))
