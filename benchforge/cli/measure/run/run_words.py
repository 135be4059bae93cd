"""The words of a run, for commands that are printed at its end."""

import shlex
from collections.abc import Iterable

from benchforge.model.files.result import Header
from benchforge.suite.suite import Suite


def run_words(suite: Suite, profile: str | None, settings: Iterable[tuple[str, str]]) -> str:
    """Return the words that measure a suite with a profile and settings, after `benchforge`."""
    words = ["run", str(suite.path)]
    words += ["--profile", profile] if profile else []
    for name, text in settings:
        words += ["--set", f"{name}={text}"]
    return shlex.join(words)


def hides(header: Header, suite: Suite) -> bool:
    """Whether a setting has a secret, which no command shows."""
    return any(secret in text for secret in suite.secrets for text in header.settings.values())
