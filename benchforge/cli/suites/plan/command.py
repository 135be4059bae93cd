"""`benchforge plan`: cases, order and times of a run, without a process or a file."""

import secrets
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click

from benchforge.cli.console import options as cli

PAPER = 100  # columns where there is no terminal
_AT_ONCE = 1000  # lines


class _Options:
    suite: Path = cli.argument(type=cli.SuiteFile())
    profile: str | None = cli.PROFILE
    settings: tuple[tuple[str, str], ...] = cli.SETTINGS
    only: tuple[str, ...] = cli.only("Plan")
    seed: int | None = cli.option(
        type=click.IntRange(0),
        metavar="N",
        help="Seed of the measurement order.  [default: the suite's]",
    )
    output: str = cli.option(
        "--format",
        type=click.Choice(["text", "json", "mermaid", "dot"]),
        default="text",
        help="Output format; json has everything. mermaid and dot, which is Graphviz's, draw which "
        "part connects to which.",
    )
    requests: int | None = cli.option(
        type=click.IntRange(1, 1000),
        metavar="N",
        help="Print N requests of each kind of the scenarios that have kinds, and nothing else.",
    )
    full: bool = cli.option("--all", help="Print lists in full.")


@cli.click_command("plan", _Options)
def command(options: _Options) -> int:
    """Show what a run of SUITE would measure, in which order, and how long it would take.

    This starts no process, needs no program and writes no file.

    Exit codes: 0 the plan is printed; 2 the suite or the command line cannot be used.
    """
    from benchforge.cli.console.named_file import loaded
    from benchforge.cli.console.say import show, warn
    from benchforge.cli.suites.plan.plan_text import dot, mermaid, request_lines, text
    from benchforge.cli.suites.plan.planned import plan_json, planned
    from benchforge.parts.registry import Registry
    from benchforge.suite.cases.expand import expand
    from benchforge.suite.plan import plan
    from benchforge.suite.secrets import redact

    registry = Registry()
    registry.listen(warn)
    suite = loaded(options.suite, registry, options.profile, options.settings, options.only)
    chosen = suite.repeat.seed if options.seed is None else options.seed
    seed = secrets.randbits(32) if chosen is None else chosen
    graph = plan(expand(suite), suite.repeat, seed, decides=bool(suite.claims_to_test))
    registry.consult("benchforge_planned", graph=graph)
    head = planned(suite, graph, chosen is None)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PAPER
    if options.requests is not None:
        requests = request_lines(suite, graph.seed, options.requests)
        lines: Iterator[str] = (redact(line, suite.secrets) for line in requests)
    elif options.output == "text":
        lines = text(head, graph, width, options.full)
    elif options.output == "json":
        lines = plan_json(head, graph)
    else:
        lines = (dot if options.output == "dot" else mermaid)(head.scenarios)
    while batch := list(islice(lines, _AT_ONCE)):  # never all of them
        show("\n".join(batch), painted=True)
    return 0
