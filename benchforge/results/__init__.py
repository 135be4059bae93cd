"""Results on disk: opened, concluded, reported, resumed, checked, compared over time.

Other programs use `open` and the names of `benchforge.results.opened`.
"""
# ruff: noqa: PLC0415 - a module of this room needs no plugin

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchforge.results.opened import OpenedResult

__all__ = ["open"]


def open(path: str | Path) -> "OpenedResult":  # noqa: A001 - benchforge.results.open, as gzip.open
    """Open a result's folder or its summary.json.

    Of the suite's parts, its metrics alone have to be installed. Raises
    `benchforge.errors.BenchforgeError` for what cannot be read, and for what says what cannot be.
    """
    from benchforge.parts.registry import Registry
    from benchforge.results.conclude import summed
    from benchforge.results.opened import OpenedResult

    return OpenedResult(summed(Path(path), Registry()).summary)
