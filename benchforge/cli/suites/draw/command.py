"""`benchforge draw`: the parts of each scenario as a graph, for Mermaid or Graphviz."""

from dataclasses import dataclass
from pathlib import Path

import click

from benchforge.cli.console.options import (
    PROFILE,
    SETTINGS,
    SuiteFile,
    argument,
    click_command,
    only,
    option,
)


@dataclass(frozen=True)
class DrawOptions:
    """Which suite is drawn, and in which language."""

    suite: Path = argument(type=SuiteFile())
    profile: str | None = PROFILE
    settings: tuple[tuple[str, str], ...] = SETTINGS
    only: tuple[str, ...] = only("Draw")
    language: str = option(
        "--as",
        type=click.Choice(["mermaid", "dot"]),
        default="mermaid",
        help="Language of the graph; dot is Graphviz's.",
    )


@click_command("draw", DrawOptions)
def command(options: DrawOptions) -> int:
    """Draw which part of SUITE connects to which, in each scenario.

    This starts no process, needs no program and writes no file.

    Exit codes: 0 the graph is printed; 2 the suite or the command line cannot be used.
    """
    from benchforge.cli.console.loaded import loaded
    from benchforge.cli.console.say import show
    from benchforge.cli.suites.draw.drawings import DrawnScenario, dot, mermaid
    from benchforge.cli.suites.plan.chains import chains, links
    from benchforge.parts.registry import Registry

    suite = loaded(
        options.suite,
        Registry(),
        profile=options.profile,
        settings=options.settings,
        only=options.only,
    )
    scenarios = [
        DrawnScenario(label, scenario.title, chains(suite, scenario), links(suite, scenario))
        for label, scenario in suite.scenarios.items()
    ]
    show("\n".join((dot if options.language == "dot" else mermaid)(scenarios)))
    return 0
