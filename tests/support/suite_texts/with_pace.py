"""Suites that pace loads: of two servers, a smoke run whatever neighbours do; and of one server."""

from pathlib import Path

from front_door import answering
from suite_texts.files import composed

TOP = 'name = "small"\n'
OFF = 'quiet = "off"'
_LOAD = 'use = "pace"\nconnections = 2\nduration = "{}ms"'


def alone(
    folder: Path, server: str = "", *, top: str = "", quiet: str = OFF, more: str = ""
) -> Path:
    """A suite of one server, whose trials are loaded for 300 ms."""
    path, servers = folder / "alone.toml", {"one": server or answering()}
    repeat = f"blocks = 1\n{quiet}\n{more}"
    path.write_text(composed(servers, _LOAD.format(300), label="pace", top=top, repeat=repeat))
    return path


def suite(folder: Path, *, two: str = "", blocks: int = 3, top: str = TOP, more: str = "") -> Path:
    """A suite of two servers, whose trials take about half a second each."""
    path, servers = folder / "small.toml", {"one": answering(), "two": two or answering()}
    repeat = f"{OFF}\nblocks = {blocks}\n{more}"
    how = {"scenario": "expect = { same_body = true }", "top": f"smoke = true\n{top}"}
    path.write_text(composed(servers, _LOAD.format(200), label="pace", repeat=repeat, **how))
    return path
