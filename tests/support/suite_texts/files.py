"""Suites: files beside their tests, and those that are composed of some servers and a load tool."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template

TESTS = Path(__file__).parents[2]


def suite_text(name: str, /, **holes: object) -> str:
    """Return the text of `tests/NAME.toml`, with its holes such as `$loader` filled.

    `$python` is the interpreter of the tests, `$programs` the folder of their programs.
    """
    template = Template((TESTS / f"{name}.toml").read_text())
    return template.substitute(holes, python=sys.executable, programs=TESTS / "programs")


def composed(
    servers: Mapping[str, str],
    load: str,
    *,
    label: str = "load",
    path: str = "/ping",
    scenario: str = "",
    top: str = "",
    repeat: str = 'quiet = "off"\nblocks = 1',
) -> str:
    """Return a suite that asks for one path; `scenario` and `repeat` are lines of these tables."""
    tables = "".join(f"[servers.{name}]\n{server}\n" for name, server in servers.items())
    return f"""benchforge = 1
{top}
{tables}
[loaders.{label}]
{load}
[scenarios.ping]
request = {{ path = "{path}" }}
servers = {json.dumps([*servers])}
loaders = ["{label}"]
{scenario}
[repeat]
{repeat}
"""
