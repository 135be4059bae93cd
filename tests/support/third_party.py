"""Plugins of others: small distributions in a folder of their own, found as installed ones are."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Installs = Callable[..., None]

LOADER = '''"""A loader."""

import sys
from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Duration, Loader, OutputDamaged, Reading, hookimpl


class Mine(Loader):
    """It only counts."""

    name: ClassVar[str] = "mine"

    connections: PositiveInt = 1
    "How many."

    def commands(self, target):
        return [Command(target.python, "-c", "print(7)", self.connections, target.url)]

    def read(self, output):
        if output.stdout != "7\\\\n":
            raise OutputDamaged("mine: no 7")
        return Reading(seconds=1, responses=7, good_at_least=7, good_at_most=7, errors={})

    def declared_s(self):
        return 1.0

    def for_warm_up(self, seconds):
        return self


@hookimpl
def benchforge_parts():
    return [Mine]
'''.replace("\\\\n", "\\n")


def written_as_installed(
    folder: Path, name: str, version: str, groups: Mapping[str, Mapping[str, str]]
) -> None:
    """Write what pip does of a distribution, but for what it needs."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [[f"[{group}]", *map(" = ".join, points.items())] for group, points in groups.items()]
    (info / "entry_points.txt").write_text("\n".join([*itertools.chain(*lines), ""]))


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installs:
    """Install a distribution for every benchforge that the test calls."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def install(
        distribution: str,
        points: Mapping[str, str],
        files: Mapping[str, str],
        version: str = "1.0",
        group: str = "benchforge",
    ) -> None:
        written_as_installed(folder, distribution, version, {group: points})
        for name, text in files.items():
            (folder / name).write_text(text)

    return install
