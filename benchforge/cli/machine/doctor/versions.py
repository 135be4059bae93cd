"""The versions of the programs that parts need, as the programs say themselves."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchforge.parts.command import Command
from benchforge.parts.part import Part, RunsPython, Service
from benchforge.run.locate import locate
from benchforge.run.programs.versions import as_they_say, no_site
from benchforge.run.sandbox.sandbox import Sandbox


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
