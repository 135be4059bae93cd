"""What holds of a suite: its tables, with a profile and each --set laid over them."""

from collections.abc import Sequence
from dataclasses import replace

from benchforge.parts.registry import Registry
from benchforge.suite.overrides.settings import with_settings
from benchforge.suite.overrides.star import spread
from benchforge.suite.toml.document import Document, Tables, as_table
from benchforge.suite.toml.faults import Nearest, SuiteErrors, SuiteFault
from benchforge.suite.toml.positions import Path


def layered(
    written: Document,
    profile: str | None,
    settings: Sequence[tuple[str, str]],
    registry: Registry,
) -> Document:
    """Return a document with a profile and all settings applied, in order.

    Raises SuiteErrors for a profile that is not there and for what cannot be set.
    """
    tables = {key: value for key, value in written.tables.items() if key != "profiles"}
    document = _laid(replace(written, tables={}), tables, (), registry)
    if profile is not None:
        document = _laid(document, _profile(written, profile), ("profiles", profile), registry)
    return with_settings(document, settings, registry)


def _profile(written: Document, name: str) -> Tables:
    profiles = as_table(written.tables.get("profiles"))
    profile = profiles.get(name)
    if not isinstance(profile, dict):
        hint = str(Nearest(name, profiles, "profiles"))
        message = f"{written.shown} has no profile of that name"
        raise SuiteErrors([SuiteFault(f"--profile {name}", message, hint=hint)])
    return profile


def _laid(document: Document, tables: Tables, at: Path, registry: Registry) -> Document:
    """Lay tables over a document: those at a path of its text."""
    over, starred = spread(tables, document.tables, registry)
    return document.with_layer(over, starred, at)
