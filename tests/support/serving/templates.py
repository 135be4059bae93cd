"""Templates of backends: those that the tests of all workers share, and those of a test alone."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from measured.once import made_once


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a cache in which each template is built once for a whole run, and not the user's.

    A template has the digest of all that it depends on as its name, and appears as a whole.
    """
    folder = made_once(tmp_path_factory, "cache", lambda made: made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "benchforge/templates"


@pytest.fixture
def own_templates(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a cache in which no other test builds anything."""
    with tempfile.TemporaryDirectory(prefix="bf-") as folder:
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        yield Path(folder) / "benchforge/templates"
