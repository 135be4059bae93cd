"""Help is there at once: what a command does is imported when it runs."""

import dataclasses
import inspect
import re
import sys
from pathlib import Path

import click
import pytest
from front_door import captured
from measured.small_results import shared
from present import present

from benchforge.cli.app import group

NAMES = group.list_commands(click.Context(group))
HEAVY = {"importlib.metadata", "pydantic", "pydantic_core", "pluggy", "rich"}
HEAVY.add("benchforge.parts.registry")
IMPORTED_WITH_THE_COMMAND = {"calibrate"}
ASK = """
import sys
from benchforge.cli.app import called
for name in sys.argv[1:]:
    called([name, "--help"])
    print(name, *sys.modules, file=sys.stderr)
"""
IMPORTED = """
import sys, click
imported = {*sys.modules}
from benchforge.cli.app import called
called(sys.argv[1:])
print(*{*sys.modules} - imported, file=sys.stderr)
"""
MACRO = str(Path(__file__).parents[2] / "suites/macro.toml")


def declared(name: str) -> click.Command:
    command = present(group.get_command(click.Context(group), name))
    return command.commands.get("suite", command) if isinstance(command, click.Group) else command


@pytest.mark.parametrize("name", NAMES)
def test_a_command_takes_one_record_whose_fields_are_its_options(name: str) -> None:
    command = declared(name)
    if isinstance(command, click.Group):
        return  # its commands are those of authors
    (parameter,) = inspect.signature(inspect.unwrap(command.callback or str)).parameters.values()
    names = [field.name for field in dataclasses.fields(parameter.annotation)]
    # Two flags may set one field.
    assert names == [*dict.fromkeys(option.name for option in command.params)]


def test_help_of_a_command_imports_click_and_nothing_heavy() -> None:
    names = [name for name in NAMES if name not in IMPORTED_WITH_THE_COMMAND]
    done = captured([sys.executable, "-c", ASK, *names], check=True)
    assert done.stdout.count("Usage: benchforge") == len(names)
    for line in done.stderr.splitlines():
        name, *modules = line.split()
        assert not HEAVY & set(modules), name


@pytest.mark.parametrize(
    ("words", "most", "without"),
    [
        *((["--help"], 30, ""), (["run", "--help"], 50, ""), (["plugins", "list"], 160, "")),
        (["check", MACRO], 310, r"model\.(files|summary|trial\.(trial|turns|hosts|observation))"),
        (["validate", "RESULT"], 260, r"parts\.part|run\.(sandbox|disk\.result_writer)|.*\.forked"),
    ],
)
def test_a_command_starts_without_what_it_does_not_need(
    words: list[str], most: int, without: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Modules beside those of click: to import one takes about a millisecond."""
    if words[1:] == ["RESULT"]:
        words = [words[0], str(shared(tmp_path_factory))]
    done = captured([sys.executable, "-c", IMPORTED, *words])
    modules = done.stderr.splitlines()[-1].split()
    assert len(modules) <= most, done.stderr
    unneeded = rf"benchforge\.(stats|checks|report|remote|{without or 'model.files'})\b"
    assert [name for name in modules if re.match(unneeded, name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_help_has_no_escape_and_its_examples_have_lines(name: str) -> None:
    command = present(group.get_command(click.Context(group), name))
    below = command.commands.values() if isinstance(command, click.Group) else ()
    for item in (command, *below):
        text = item.get_help(click.Context(item, info_name=name))
        assert "\\" not in text
        assert not re.search(r"Examples?: +\S", text)  # each example has its line
