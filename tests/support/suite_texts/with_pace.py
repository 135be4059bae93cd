"""A suite of two servers that pace loads, in a few blocks: a smoke run, whatever neighbours do."""

from pathlib import Path

from front_door import answering

TOP = 'name = "small"\n'


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
