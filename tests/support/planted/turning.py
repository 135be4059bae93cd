"""Suites with a server of programs/faulty_servers/turns.py for each fault, beside one without."""

import json
from collections.abc import Mapping

from front_door import needed_tool
from planted.beside import program

PACE = 'use = "pace"\nconnections = 8\nthink = "5ms"\nduration = "2s"'
WRK = 'use = "wrk"\nconnections = 8\nduration = "1s"'
TAKES = "0.005"  # seconds: a second is the shortest load of most tools, and costs little then


def turning(*faults: str, takes: str = "") -> dict[str, str]:
    """The TOML of a healthy server and of one for each fault, by their labels."""
    labels = {"healthy": "none"} | {fault: fault for fault in faults}
    return {label: server(fault, takes) for label, fault in labels.items()}


def server(fault: str, takes: str = "") -> str:
    """The TOML of a server with a fault, whose answers take so many seconds."""
    words = ("faulty_servers/turns.py", "{port}", fault, *([takes] if takes else []))
    return f'{program(*words)}ready_within = "5s"\n'


def suite(
    servers: Mapping[str, str], load: str, *, scenario: str = "", top: str = "", more: str = ""
) -> str:
    """Return it, or leave the test where its load tool is missing."""
    needed_tool(load)
    declared = "".join(f"[servers.{label}]\n{toml}" for label, toml in servers.items())
    return f"""benchforge = 1
{top}
{declared}
[loaders.load]
{load}
[scenarios.asked]
request = {{ path = "/" }}
servers = {json.dumps(list(servers))}
loaders = ["load"]
{scenario}
[repeat]
blocks = 1
quiet = "off"
{more}"""
