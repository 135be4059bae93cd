"""The command line that all runners share, and the import of what they serve.

Plain files, which run where benchforge is not installed, on any Python since 3.9. The name is one
that no app has.
"""

import argparse
import importlib
import os
import sys
from typing import Any


def arguments(description: "str | None") -> argparse.ArgumentParser:
    """Return a parser of the options that all runners have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--directory", required=True)
    parser.add_argument("--backlog", type=int, required=True)
    parser.add_argument("target", metavar="module:attribute")
    return parser


def target(options: argparse.Namespace) -> Any:
    """Return the attribute, or with () at its end what it makes; its folder is the first of all."""
    os.chdir(options.directory)
    sys.path[0] = options.directory  # in place of the folder of the runners
    module, _, path = options.target.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.removesuffix("()").split("."):
        found = getattr(found, name)
    return found() if path.endswith("()") else found
