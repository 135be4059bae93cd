"""A suite as every command reads it: from then on nothing that is printed shows its secrets."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from benchforge.cli.screen.say import keep_secret
from benchforge.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.suite import Suite


class SuiteForm(TypedDict, total=False):
    """The form of a suite that options choose: a profile, settings, and its only scenarios."""

    profile: str | None
    settings: Sequence[tuple[str, str]]
    only: Sequence[str]


def loaded(
    path: Path, registry: Registry, *, text: str | None = None, **form: Unpack[SuiteForm]
) -> Suite:
    """Read a suite as `load` does. Raises SuiteErrors, which holds everything that is wrong."""
    suite = load(path, registry, text=text, **form)
    keep_secret(suite.secrets)
    return suite
