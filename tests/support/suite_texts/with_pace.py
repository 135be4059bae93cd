"""Suites that pace loads: of two servers, a smoke run whatever neighbours do; and of one server."""

from pathlib import Path

from front_door import answering

TOP = 'name = "small"\n'
OFF = 'quiet = "off"'


def alone(
    folder: Path, server: str = "", *, top: str = "", quiet: str = OFF, more: str = ""
) -> Path:
    """A suite of one server, whose trials are loaded for 300 ms."""
    path = folder / "alone.toml"
    path.write_text(f"""benchforge = 1
loaders.pace = {{ use = "pace", connections = 2, duration = "300ms" }}
scenarios.ping = {{ request = {{ path = "/ping" }}, servers = ["one"], loaders = ["pace"] }}
{top}
[servers.one]
{server or answering()}
[repeat]
blocks = 1
{quiet}
{more}
""")
    return path


def suite(folder: Path, *, two: str = "", blocks: int = 3, top: str = TOP, more: str = "") -> Path:
    """A suite of two servers, whose trials take about half a second each."""
    path = folder / "small.toml"
    path.write_text(
        f"""benchforge = 1
smoke = true
loaders.pace = {{ use = "pace", connections = 2, duration = "200ms" }}
{top}
[servers.one]
{answering()}
[servers.two]
{two or answering()}
[scenarios.ping]
request = {{ path = "/ping" }}
servers = ["one", "two"]
loaders = ["pace"]
expect = {{ same_body = true }}
[repeat]
quiet = "off"
blocks = {blocks}
{more}"""
    )
    return path
