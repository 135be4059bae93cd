"""A suite of some servers that a load tool asks for one path."""

import json
from collections.abc import Mapping


def composed(
    servers: Mapping[str, str],
    load: str,
    *,
    label: str = "load",
    path: str = "/ping",
    scenario: str = "",
    top: str = "",
    repeat: str = 'quiet = "off"\nblocks = 1',
) -> str:
    """Return its text; `scenario` and `repeat` are lines of these tables."""
    tables = "".join(f"[servers.{name}]\n{server}\n" for name, server in servers.items())
    return f"""benchforge = 1
{top}
{tables}
[loaders.{label}]
{load}
[scenarios.ping]
request = {{ path = "{path}" }}
servers = {json.dumps([*servers])}
loaders = ["{label}"]
{scenario}
[repeat]
{repeat}
"""
