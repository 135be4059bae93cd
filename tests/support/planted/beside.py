"""Suites in which a fault stands beside the same thing without it."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, needed_tool
from planted.validity import Seen, measured
from suite_texts.files import composed

WRK = 'use = "wrk"\nconnections = 2\nthreads = 1\nduration = "1s"'
PACE = 'use = "pace"\nconnections = 2\nrate = "100/s"\narrivals = "constant"\nduration = "2s"'

_TRIES = 3
_FREE = 0.03  # of the CPUs that others may use while something is to be saturated


def suite(
    servers: Mapping[str, str],
    load: str = WRK,
    *,
    scenario: str = 'expect = { body = "pong" }',
    top: str = "",
    more: str = "",
    path: str = "/ping",
) -> str:
    """Return a suite of one block that loads each of these servers.

    Leave the test where its load tool is missing.
    """
    needed_tool(load)
    repeat = f'quiet = "off"\nblocks = 1\n{more}'
    return composed(servers, load, path=path, scenario=scenario, top=top, repeat=repeat)


def command(*words: object, **environment: str) -> str:
    """Return the TOML of a server that is started by these words."""
    text = ", ".join(f"{name} = '{value}'" for name, value in environment.items())
    variables = f"environment = {{ {text} }}\n" if environment else ""
    return f'use = "command"\ncommand = {[str(word) for word in words]}\n{variables}'


def program(name: str, *words: object, **environment: str) -> str:
    """Return the TOML of a server that is a program of tests/programs."""
    return command(sys.executable, PROGRAMS / name, *words, **environment)


def gunicorn(app: str, more: str = "") -> str:
    """Return the TOML of gunicorn with one worker, which serves an app of tests/programs/apps."""
    folder = PROGRAMS / "apps"
    return f'use = "gunicorn"\napp = "{app}"\ndirectory = \'{folder}\'\nworkers = 1\n{more}'


def undisturbed(bench: Bench, folder: Path, text: str, id_: str, server: str, status: str) -> Seen:
    """Measure what needs a whole CPU, three times at most, until the check says so.

    Where others had the CPUs each time, here (N1) or on the host (N4), the fault was never planted:
    leave the test.
    """
    tries: list[Seen] = []
    while len(tries) < _TRIES:
        tries.append(measured(bench, folder, text))
        if any(check["status"] == status for check in tries[-1].checks(id_, server)):
            return tries[-1]
    taken = min(_most(observed, "N1", server) + _most(observed, "N4", server) for observed in tries)
    if taken < _FREE:
        return tries[-1]
    pytest.skip(f"others used {taken:.0%} of the CPUs")


def _most(observed: Seen, id_: str, server: str) -> float:
    return max(check["value"] or 0.0 for check in observed.checks(id_, server))
