"""Suites that are files beside their tests."""

import sys
from pathlib import Path
from string import Template

TESTS = Path(__file__).parents[2]


def suite_text(name: str, /, **holes: object) -> str:
    """Return the text of `tests/NAME.toml`, with its holes such as `$loader` filled.

    `$python` is the interpreter of the tests, `$programs` the folder of their programs.
    """
    template = Template((TESTS / f"{name}.toml").read_text())
    return template.substitute(holes, python=sys.executable, programs=TESTS / "programs")
