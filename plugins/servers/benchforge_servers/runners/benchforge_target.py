"""The command line that all runners share, and the import of what they serve.

Plain files, which run where benchforge is not installed, on any Python since 3.9. The name is one
that no app has.
"""

import argparse
import importlib
import os
import sys
from typing import Any


def arguments(description: "str | None", **kinds: type) -> argparse.Namespace:
    """Parse the options that all runners have, and those of one by their kinds: bool is a flag."""
    parser = argparse.ArgumentParser(description=description)
    for name, kind in {"host": str, "port": int, "directory": str, "backlog": int, **kinds}.items():
        how: Any = {"action": argparse.BooleanOptionalAction} if kind is bool else {"type": kind}
        parser.add_argument(f"--{name.replace('_', '-')}", **how)
    parser.add_argument("target", metavar="module:attribute")
    return parser.parse_args()


def target(options: argparse.Namespace) -> Any:
    """Return the attribute, or with () at its end what it makes; its folder is the first of all."""
    os.chdir(options.directory)
    sys.path[0] = options.directory  # in place of the folder of the runners
    module, _, path = options.target.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.removesuffix("()").split("."):
        found = getattr(found, name)
    return found() if path.endswith("()") else found
