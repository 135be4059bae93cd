"""A bar for work of thousands of steps, on a terminal only."""

import gc
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from benchforge.text.steps import SHOWN

_FEW = 500
"Steps that are over before anybody looks."


def begin_long_work() -> None:
    """Show on stderr how far the work of this command is; nothing of it stays there."""
    gc.disable()  # results have no circles, and to look for them takes a tenth of the time
    if sys.stderr.isatty():
        SHOWN.set(_bar)


def _bar(work: Sequence[Any], title: str) -> Iterable[Any]:
    if len(work) < _FEW:
        return work
    from rich.console import Console  # noqa: PLC0415 - it takes longer than most commands
    from rich.progress import track  # noqa: PLC0415

    return track(work, title, console=Console(stderr=True), transient=True)
