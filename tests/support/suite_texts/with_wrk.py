"""A suite of a server that wrk loads for a second, and what its trials left.

It is a smoke run: whatever neighbours do, each trial is measured once, and any number is enough.
"""

import json
from pathlib import Path
from typing import Any

from front_door import needed
from suite_texts.files import composed


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
    path, load = folder / "small.toml", f'use = "wrk"\nconnections = 2\nduration = "{duration}"'
    repeat = f'quiet = "off"\nblocks = {blocks}\n{more}'
    how = {"scenario": scenario, "top": f"smoke = true\n{top}", "repeat": repeat}
    path.write_text(composed({"one": server}, load, label="wrk", **how))
    return path


def trials(folder: Path) -> list[dict[str, Any]]:
    items = sorted(folder.glob("results/*/trials/*/trial.json"))
    return [json.loads(path.read_text()) for path in items]
