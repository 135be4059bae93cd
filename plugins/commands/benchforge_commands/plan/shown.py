"""`benchforge plan`: what a run would measure, in which order; nothing is started or written."""

import secrets
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import Unpack

from benchforge.cli.loaded import SuiteForm, loaded
from benchforge.cli.screen.say import show, warn
from benchforge.graph import plan
from benchforge.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.secrets.redact import redact
from benchforge_commands.plan.plan_text import text
from benchforge_commands.plan.planned import plan_json, planned
from benchforge_commands.plan.requests import request_lines

PAPER = 100  # columns where there is no terminal
_AT_ONCE = 1000  # lines


def main(
    suite: Path,
    seed: int | None,
    output: str,
    requests: int | None,
    whole: bool,
    **form: Unpack[SuiteForm],
) -> int:
    """Show what a run of SUITE would measure, in which order, and how long it would take."""
    registry = Registry()
    registry.listen(warn)
    loaded_suite = loaded(suite, registry, **form)
    chosen = loaded_suite.repeat.seed if seed is None else seed
    drawn = chosen is None
    graph = plan(
        expand(loaded_suite),
        loaded_suite.repeat,
        secrets.randbits(32) if chosen is None else chosen,
    )
    registry.consult("benchforge_planned", graph=graph)
    head = planned(loaded_suite, graph, drawn)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PAPER
    lines = plan_json(head, graph) if output == "json" else text(head, graph, width, whole)
    if requests is not None:
        lines = (
            redact(line, loaded_suite.secrets)
            for line in request_lines(loaded_suite, graph.seed, requests)
        )
    while some := list(islice(lines, _AT_ONCE)):  # never all of them
        show("\n".join(some), painted=True)
    return 0
