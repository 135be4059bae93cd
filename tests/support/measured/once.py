"""What tests of several workers look at is made by the first of them; the others wait for it."""

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from front_door import Bench, bench_words, calls


def made_once(folders: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """Return what `make` gives in a folder of its own, for all tests with this name in a run.

    Nobody may change it: who wants to takes a copy. Where it raises, the next worker tries.
    """
    base = folders.getbasetemp()
    path = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    note = path / f"once-{name}"
    with (path / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists():
            note.write_text(str(make(Path(tempfile.mkdtemp(prefix=f"{name}-", dir=path)))))
    return Path(note.read_text())


def measured_once(
    folders: pytest.TempPathFactory, name: str, measure: Callable[[Bench, Path], Path]
) -> Path:
    """Return such a result, the same for all tests of a run: to change it, take a copy."""
    return made_once(folders, name, lambda path: measure(calls(bench_words(), path), path))
