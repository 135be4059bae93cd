"""How a person calls the programs of our own environment: what is printed works as printed."""

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
