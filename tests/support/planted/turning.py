"""Suites with a server of programs/faulty_servers/turns.py for each fault, beside one without."""

from functools import partial

from planted import beside
from planted.beside import program

PACE = 'use = "pace"\nconnections = 8\nthink = "5ms"\nduration = "2s"'
WRK = 'use = "wrk"\nconnections = 8\nduration = "1s"'
TAKES = "0.005"  # seconds: a second is the shortest load of most tools, and costs little then
suite = partial(beside.suite, path="/", scenario="")


def turning(*faults: str, takes: str = "") -> dict[str, str]:
    """The TOML of a healthy server and of one for each fault, by their labels."""
    labels = {"healthy": "none"} | {fault: fault for fault in faults}
    return {label: server(fault, takes) for label, fault in labels.items()}


def server(fault: str, takes: str = "") -> str:
    """The TOML of a server with a fault, whose answers take so many seconds."""
    words = ("faulty_servers/turns.py", "{port}", fault, *([takes] if takes else []))
    return f'{program(*words)}ready_within = "5s"\n'
