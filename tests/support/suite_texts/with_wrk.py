"""A suite of a server that wrk loads for a second, and what its trials left.

It is a smoke run: whatever neighbours do, each trial is measured once, and any number is enough.
"""

import json
from pathlib import Path
from typing import Any

LOAD = """
[loaders.wrk]
use = "wrk"
connections = 2
duration = "1s"
"""


def suite(folder: Path, server: str, *, scenario: str = "", top: str = "", more: str = "") -> Path:
    path = folder / "small.toml"
    path.write_text(
        f"""benchforge = 1
smoke = true
{top}
[servers.one]
{server}
{LOAD}
[scenarios.ping]
request = {{ path = "/ping" }}
servers = ["one"]
loaders = ["wrk"]
{scenario}
[repeat]
quiet = "off"
blocks = 1
{more}"""
    )
    return path


def trials(folder: Path) -> list[dict[str, Any]]:
    items = sorted(folder.glob("results/*/trials/*/trial.json"))
    return [json.loads(path.read_text()) for path in items]
