"""A suite of a server that wrk loads for a second, and what its trials left.

It is a smoke run: whatever neighbours do, each trial is measured once, and any number is enough.
"""

import json
from pathlib import Path
from typing import Any

from front_door import needed


def suite(
    folder: Path,
    server: str,
    *,
    scenario: str = "",
    top: str = "",
    more: str = "",
    blocks: int = 1,
    duration: str = "1s",
) -> Path:
    """Write it, or leave the test where wrk is missing."""
    needed("wrk")
    path = folder / "small.toml"
    path.write_text(
        f"""benchforge = 1
smoke = true
{top}
[servers.one]
{server}

[loaders.wrk]
use = "wrk"
connections = 2
duration = "{duration}"

[scenarios.ping]
request = {{ path = "/ping" }}
servers = ["one"]
loaders = ["wrk"]
{scenario}
[repeat]
quiet = "off"
blocks = {blocks}
{more}"""
    )
    return path


def trials(folder: Path) -> list[dict[str, Any]]:
    items = sorted(folder.glob("results/*/trials/*/trial.json"))
    return [json.loads(path.read_text()) for path in items]
