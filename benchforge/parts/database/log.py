"""The log of a service that is started in the background: why it did not start."""

from collections.abc import Callable
from pathlib import Path

from benchforge.parts.command import Finished
from benchforge.parts.content import text_of


def last_word(log: Path) -> Callable[[Finished], str | None]:
    """Return a judge that tells a failure by the last line of the service's own log."""

    def judge(finished: Finished) -> str | None:
        if finished.code == 0:
            return None
        lines = text_of(log).splitlines() if log.is_file() else []
        return next(filter(str.strip, reversed(lines)), f"exit code {finished.code}")

    return judge
