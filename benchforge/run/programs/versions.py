"""Which versions programs are, as they say themselves."""

import os
from collections.abc import Mapping
from pathlib import Path

from benchforge.errors import BenchforgeError
from benchforge.parts.command import Command
from benchforge.parts.site import Site
from benchforge.run.sandbox.sandbox import Sandbox

_VERSION_WITHIN_S = 10.0


def as_they_say(commands: Mapping[str, Command], sandbox: Sandbox, folder: Path) -> dict[str, str]:
    """Return the first line that each command prints, or why there is none."""
    answers: dict[str, str] = {}
    for label, command in commands.items():
        try:
            done = sandbox.run(label, command, folder, {}, _VERSION_WITHIN_S)
            text = done.printed + done.complained
        except BenchforgeError as error:
            answers[label] = f"unknown: {error}"
            continue
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        answers[label] = lines[0] if lines else "unknown: it printed nothing"
    return answers


def no_site(folder: Path, python: Path, programs: Mapping[str, Path], suite_folder: Path) -> Site:
    """Return a site at which a part can say how its version is asked for, and nothing more."""
    return Site(
        label="version",
        folder=folder,
        scratch=folder,
        address="127.0.0.1",
        ports={},
        python=python,
        programs=programs,
        backends={},
        suite_folder=suite_folder,
        as_root=os.geteuid() == 0,
    )
