"""`benchforge plan`: what a run would measure, in which order; nothing is started or written."""

import secrets
import shutil
import sys
from itertools import islice
from pathlib import Path

import click

from benchforge.cli.drawings import dot, mermaid
from benchforge.cli.options import pairs
from benchforge.cli.plan_text import text
from benchforge.cli.planned import as_json, planned
from benchforge.cli.say import show, warn
from benchforge.graph import plan
from benchforge.registry import Registry
from benchforge.suite.expand import expand
from benchforge.suite.load import load
from benchforge.suite.redact import redact

PAPER = 100  # columns where there is no terminal
_AT_ONCE = 1000  # lines


@click.command("plan")
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("--profile", metavar="NAME", help="Apply [profiles.NAME] of the suite.")
@click.option("--set", "settings", metavar="PATH=VALUE", multiple=True, help="Change an option.")
@click.option("--only", metavar="SCENARIO", multiple=True, help="Plan these scenarios only.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Of the order; else the suite's.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "mermaid", "dot", "json"]),
    default="text",
    help="mermaid and dot draw who turns to whom; json has everything.",
)
@click.option("--all", "whole", is_flag=True, help="Cut no list short.")
def command(
    suite: Path,
    profile: str | None,
    settings: tuple[str, ...],
    only: tuple[str, ...],
    seed: int | None,
    form: str,
    whole: bool,
) -> int:
    """Show what a run of SUITE would measure, in which order, and how long it would take.

    No process is started, no program is needed and nothing is written.

    Exit codes: 0 here is the plan; 2 the suite or the command line cannot be used.
    """
    registry = Registry()
    registry.listen(warn)
    asked = load(suite, registry, profile=profile, settings=pairs(settings), only=only)
    chosen = asked.repeat.seed if seed is None else seed
    drawn = chosen is None
    graph = plan(expand(asked), asked.repeat, secrets.randbits(32) if chosen is None else chosen)
    registry.consult("benchforge_planned", graph=graph)
    head = planned(asked, graph, drawn)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PAPER
    lines = {
        "text": lambda: text(head, graph, width, whole),
        "mermaid": lambda: mermaid(head),
        "dot": lambda: dot(head),
        "json": lambda: as_json(head, graph),
    }[form]()
    while some := list(islice(lines, _AT_ONCE)):  # never all of them
        show(redact("\n".join(some), asked.secrets))
    return 0
