"""Which versions programs are, as they say themselves."""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchforge.errors import BenchforgeError
from benchforge.parts.command import Command
from benchforge.parts.part import Part, RunsPython, Service
from benchforge.parts.site import Site
from benchforge.run.locate import locate
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


def versions_of(
    parts: Iterable[Part], sandbox: Sandbox, suite_folder: Path, folder: Path
) -> dict[str, str]:
    """Return the versions of programs, each by the first one that a part needs.

    Of a part whose programs are not all there, or that runs elsewhere, nothing is asked.
    """
    commands: dict[str, Command] = {}
    for part in parts:
        if isinstance(part, RunsPython):  # its version is a package's
            continue
        try:
            if isinstance(part, Service) and part.outside():
                continue
            names = list(_programs(part))
            programs = {name: path for name in names if (path := locate(name, suite_folder))}
            if names and len(programs) == len(set(names)):
                python = Path(sys.executable)
                command = part.version(no_site(folder, python, programs, suite_folder))
                if command is not None:
                    commands.setdefault(names[0], command)
        except AttributeError:  # of an option that only a suite gives
            continue
    # A program may be named by its path: what it prints goes to a file of another name.
    numbered = {f"version-{number}": command for number, command in enumerate(commands.values())}
    answers = as_they_say(numbered, sandbox, folder)
    return dict(zip(commands, answers.values(), strict=True))


def _programs(part: Part) -> Iterator[str]:
    """Yield the programs that a part needs, as far as its options tell."""
    with contextlib.suppress(AttributeError):
        yield from (need.name for need in part.needs() if need.kind == "program")


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
