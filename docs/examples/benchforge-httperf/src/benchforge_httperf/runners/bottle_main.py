"""Serve an app by Bottle: a plain program, told by its words ADDRESS PORT FOLDER APP ADAPTER."""
# ruff: noqa: INP001

import importlib
import sys

import bottle


def main() -> None:
    """Import the app from its folder, and serve it without a line for each request."""
    address, port, folder, app, adapter = sys.argv[1:]
    sys.path[0] = folder  # in place of the folder of this file
    module, _, attribute = app.partition(":")
    served = getattr(importlib.import_module(module), attribute)
    bottle.run(served, server=adapter, host=address, port=int(port), quiet=True)


if __name__ == "__main__":
    main()
