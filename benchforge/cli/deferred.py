"""What a command does is imported when it runs: its help needs click alone."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any


def runs(module: str) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Return a decorator: the command has a function's name and help, and runs `main` of `module`.

    `main` takes the command's arguments and options by name, and returns the exit code.
    """

    def deferred(described: Callable[[], None]) -> Callable[..., Any]:
        @wraps(described)
        def main(**words: Any) -> Any:
            return import_module(module).main(**words)

        return main

    return deferred
