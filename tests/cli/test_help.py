"""Help is there at once: what a command does is imported when it runs."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import click
import pytest

from benchforge.cli import group

ROOT = Path(__file__).parents[2]
DECLARED = ROOT / "benchforge/cli/commands"
RUNS = re.compile(r'^@runs\("([\w.]+)"\)$', re.MULTILINE)
BROUGHT = {
    "check": ROOT / "plugins/commands/benchforge_commands",
    **dict.fromkeys(("compare", "history", "report"), ROOT / "plugins/results/benchforge_results"),
}
FILES = {file.stem: file for file in DECLARED.glob("*.py") if file.stem != "__init__"}
FILES |= {name: folder / name / "command.py" for name, folder in BROUGHT.items()}
NAMES = sorted(FILES)
HEAVY = {"pydantic", "pydantic_core", "pluggy", "rich", "benchforge.registry"}
ASK = """
import sys
from benchforge.cli import called
called(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
"""


def declared(name: str) -> click.Command:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command.commands["suite"] if isinstance(command, click.Group) else command


@pytest.mark.parametrize("name", NAMES)
def test_main_takes_what_the_command_declares(name: str) -> None:
    (module,) = RUNS.findall(FILES[name].read_text())
    takes: list[str] = []
    for label, parameter in inspect.signature(import_module(module).main).parameters.items():
        record = parameter.kind is inspect.Parameter.VAR_KEYWORD
        takes += get_args(parameter.annotation)[0].__annotations__ if record else [label]
    # Two flags may set one parameter.
    assert sorted(takes) == sorted({param.name or "" for param in declared(name).params})


@pytest.mark.parametrize("name", [*NAMES, "plugins"])
def test_help_of_a_command_imports_click_and_nothing_heavy(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK, name, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Usage: benchforge")
    assert not HEAVY & set(done.stderr.split())


@pytest.mark.parametrize("name", [*group.list_commands(click.Context(group)), "plugins"])
def test_help_has_no_escape_and_its_examples_have_lines(name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    below = command.commands.values() if isinstance(command, click.Group) else ()
    for one in (command, *below):
        text = one.get_help(click.Context(one, info_name=name))
        assert "\\" not in text
        assert not re.search(r"Examples?: +\S", text)  # each example has its line
