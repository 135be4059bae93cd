"""A suite as every command reads it: from then on nothing that is printed shows its secrets."""

from collections.abc import Sequence
from pathlib import Path

from benchforge.cli.console.say import keep_secret
from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.suite import Suite


def loaded(
    path: Path,
    registry: Registry,
    *,
    profile: str | None = None,
    settings: Sequence[tuple[str, str]] = (),
    only: Sequence[str] = (),
    text: str | None = None,
) -> Suite:
    """Read a suite as `load` does. Raises SuiteErrors, which holds everything that is wrong."""
    suite = load(path, registry, profile=profile, settings=settings, only=only, text=text)
    keep_secret(suite.secrets)
    return suite
