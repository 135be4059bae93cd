"""`benchforge draw`: the parts of each scenario as a graph, for Mermaid or Graphviz."""

from pathlib import Path
from typing import Unpack

import click

from benchforge.cli.loaded import SuiteForm, loaded
from benchforge.cli.options import PROFILE, SETTINGS, SuiteFile, only_option
from benchforge.cli.screen.say import show
from benchforge.registry import Registry
from benchforge_commands.draw.drawings import DrawnScenario, dot, mermaid
from benchforge_commands.plan.chains import chains, links

_LANGUAGES = {"mermaid": mermaid, "dot": dot}


@click.command("draw")
@click.argument("suite", type=SuiteFile())
@PROFILE
@SETTINGS
@only_option("Draw")
@click.option(
    "--as",
    "language",
    type=click.Choice([*_LANGUAGES]),
    default="mermaid",
    show_default=True,
    help="Language of the graph; dot is Graphviz's.",
)
def command(suite: Path, language: str, **form: Unpack[SuiteForm]) -> int:
    """Draw which part of SUITE connects to which, in each scenario.

    This starts no process, needs no program and writes no file.

    Exit codes: 0 the graph is printed; 2 the suite or the command line cannot be used.
    """
    read = loaded(suite, Registry(), **form)
    scenarios = [
        DrawnScenario(label, scenario.title, chains(read, scenario), links(read, scenario))
        for label, scenario in read.scenarios.items()
    ]
    show("\n".join(_LANGUAGES[language](scenarios)))
    return 0
