"""Suites in which a fault stands beside the same thing without it."""

import sys
from collections.abc import Mapping

from front_door import PROGRAMS

WRK = 'use = "wrk"\nconnections = 2\nthreads = 1\nduration = "1s"'
PACE = 'use = "pace"\nconnections = 2\nrate = "100/s"\narrivals = "constant"\nduration = "2s"'


def suite(
    servers: Mapping[str, str], load: str = WRK, *, scenario: str = "", more: str = ""
) -> str:
    """Return a suite of one block that loads each of these servers at /ping."""
    parts = "".join(f"[servers.{label}]\n{server}\n" for label, server in servers.items())
    return f"""benchforge = 1
{parts}
[loaders.load]
{load}
[scenarios.ping]
request = {{ path = "/ping" }}
servers = {list(servers)}
loaders = ["load"]
{scenario or 'expect = { body = "pong" }'}
[repeat]
blocks = 1
{more}
"""


def command(*words: object, **environment: str) -> str:
    """Return the TOML of a server that is started by these words."""
    given = ", ".join(f"{name} = '{value}'" for name, value in environment.items())
    return (
        f'use = "command"\ncommand = {[str(word) for word in words]}\nenvironment = {{ {given} }}'
    )


def program(name: str, *words: object, **environment: str) -> str:
    """Return the TOML of a server that is a program of tests/programs."""
    return command(sys.executable, PROGRAMS / name, *words, **environment)


def gunicorn(app: str, more: str = "") -> str:
    """Return the TOML of gunicorn with one worker, which serves an app of tests/programs."""
    folder = f"directory = '{PROGRAMS}'"
    return f'use = "gunicorn"\napp = "{app}"\n{folder}\nworkers = 1\n{more}'
