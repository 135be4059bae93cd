"""Options of a duel, and --time of others, as the values that they name."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic_core import PydanticCustomError

from benchforge.cli.measure.duel.servers import Contender
from benchforge.errors import Unusable
from benchforge.model.values.units import Duration, Rate


def duration(given: str) -> float:
    """Return a duration in seconds. Raises Unusable for what is none, and for zero."""
    try:
        seconds = float(Duration.parse(float(given) if plain(given) else given))
    except PydanticCustomError:
        seconds = 0.0
    if seconds <= 0:
        raise Unusable(f"--time {given}: not a duration", 'write it like "3m" or "90s"')
    return seconds


def plain(given: str) -> bool:
    """Return whether a text is a number without a unit."""
    return re.fullmatch(r"\d+(\.\d+)?", given, re.ASCII) is not None


def request_path(path: str | None, servers: Mapping[str, Contender]) -> str:
    """Return the path of the request: that of --path, or of all URLs. Raises Unusable for two."""
    paths = {one.path for one in servers.values() if one.path not in {None, "/"}}
    if path is not None:
        for server in servers.values():
            if server.path not in {None, "/", path}:
                hint = "write the path once: in --path, or in each URL"
                raise Unusable(f"{server.given}: --path {path} is another path", hint)
        return path if path.startswith("/") else f"/{path}"
    if len(paths) > 1:
        hint = "all servers of a duel get the same request: write its path in --path"
        raise Unusable(f"the URLs have different paths: {', '.join(sorted(map(str, paths)))}", hint)
    return next(iter(paths), None) or "/"


def header(text: str) -> tuple[str, str]:
    """Return name and value of a header. Raises Unusable for what is none."""
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        # It may be a secret, and nothing tells which part of it.
        message = f"--header: {len(text)} characters that are no header"
        raise Unusable(message, 'write it like "Accept: text/html"')
    return name, value.strip()


def backends(words: Sequence[str]) -> dict[str, str | None]:
    """Return the dataset of each kind of backend, or None. Raises Unusable for two of a kind."""
    datasets: dict[str, str | None] = {}
    for backend in words:
        kind, colon, dataset = backend.partition(":")
        if kind in datasets:
            raise Unusable(f"--backend {backend}: a second {kind}", "write a suite for two")
        if colon and not dataset:
            raise Unusable(f"--backend {backend}: no dataset", "write it like postgresql:agents")
        if "/" in dataset and not Path(dataset, "dataset.toml").is_file():
            hint = "it is a folder with the files of the tables, and a dataset.toml with its name, "
            hint += "its rows, and its files in their order"
            raise Unusable(f"--backend {backend}: no dataset.toml in it", hint)
        datasets[kind] = dataset or None
    return datasets


def rate(text: str) -> str:
    """Return a rate as a suite has it. Raises Unusable for what is none, and for zero."""
    try:
        number = Rate.parse(float(text) if plain(text) else text)
    except PydanticCustomError:
        number = Rate(0)
    if number <= 0:
        raise Unusable(f"--rate {text}: not a rate", 'write it like "500/s" or "2k/s"')
    return f"{number}/s"
