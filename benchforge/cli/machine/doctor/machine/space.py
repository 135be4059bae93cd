"""Where results, the cache and trials go: how much space there is."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.run.disk.space import free_b
from benchforge.text.readable import amount

_LITTLE = 1e9


def findings(folders: Mapping[str, Path]) -> Iterator[MachineFinding]:
    """Yield how much is free for each purpose; of a folder that is to be made, above it."""
    for purpose, folder in folders.items():
        try:
            free = free_b(folder)
        except OSError as error:
            yield unknown(f"disk: {purpose}", f"{error.filename}: {error.strerror}")
            continue
        says = f"{amount('B', free)} free at {folder}"
        if free < _LITTLE:
            hint = f"{says}: a run may fail because it cannot write"
            yield warn(f"disk: {purpose}", hint, "free some space")
        else:
            yield ok(f"disk: {purpose}", says)
