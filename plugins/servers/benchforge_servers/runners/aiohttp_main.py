"""Serve an aiohttp app: a plain program, which runs where benchforge is not installed."""
# ruff: noqa: INP001

import argparse
import importlib
import os
import sys
from typing import Any

from aiohttp import web


def main() -> None:
    """Import module:attribute from a folder and serve it, without an access log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--backlog", type=int, default=128)
    parser.add_argument("--directory", required=True)
    parser.add_argument("target", metavar="module:attribute")
    options = parser.parse_args()

    os.chdir(options.directory)
    sys.path[0] = options.directory  # in place of the folder of this file
    module, _, attribute = options.target.partition(":")
    app: Any = importlib.import_module(module)
    for name in attribute.removesuffix("()").split("."):
        app = getattr(app, name)
    if callable(app) and not isinstance(app, web.Application):
        app = app()
    web.run_app(
        app,
        host=options.host,
        port=options.port,
        backlog=options.backlog,
        access_log=None,
        print=None,
    )


if __name__ == "__main__":
    main()
