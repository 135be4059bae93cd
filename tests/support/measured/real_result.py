"""A result of a real run, of load tools that tell different things: what tests then change."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, bench_words, calls, needed, needed_module
from measured.once import made_once

from benchforge.run.disk.manifest import manifest_of
from benchforge.run.disk.result_writer import whole

Where = tuple[str | int, ...]
"The path of a value in a JSON file."

SUITE = """benchforge = 1
servers.one = { use = "waitress", app = "hello_wsgi" }
loaders.wrk = { use = "wrk", connections = 4, duration = "1s" }
loaders.ab = { use = "ab", connections = 4, duration = "1s" }
loaders.pace = { use = "pace", connections = 4, duration = "0.5s" }
loaders.paced = { use = "pace", rate = "200/s", duration = "0.5s" }
clients.plain = { use = "http_client", requests = 200 }
repeat = { blocks = 2, quiet = "off" }
[scenarios.hello]
servers = ["one"]
loaders = ["wrk", "ab", "pace", "paced"]
clients = ["plain"]
expect = { length = 12 }
"""


def measured(bench: Bench, folder: Path) -> Path:
    """Run all of it, and return the result's folder."""
    needed("wrk", "ab")
    needed_module("waitress")
    (folder / "real.toml").write_text(SUITE)
    attempt = 0
    while True:  # a neighbour that keeps pace from its rate spoils both blocks
        attempt += 1
        call = bench("run", folder / "real.toml", "-o", folder / f"real-{attempt}")
        if attempt == 5 or call.code == 0:
            break
    assert call.code == 0, call.all
    (result,) = (folder / f"real-{attempt}").iterdir()
    return result


def shared(folders: pytest.TempPathFactory) -> Path:
    """Return such a result, the same for all tests of a run: to change it, take a copy."""
    return made_once(
        folders, "validate", lambda folder: measured(calls(bench_words(), folder), folder)
    )


def copied(result: Path, folder: Path) -> Path:
    """Return a copy of a result, to be changed."""
    return Path(shutil.copytree(result, folder / "changed" / result.name))


def trial_of(result: Path, driver: str) -> Path:
    """Return the first trial.json of a driver."""
    every = sorted(result.glob("trials/*/trial.json"))
    return next(file for file in every if json.loads(file.read_text())["case"]["driver"] == driver)


def listed_anew(result: Path) -> None:
    """Give a result a manifest of the files that it has now, as a forger would."""
    (result / "manifest.json").unlink(missing_ok=True)
    whole(result, "manifest.json", manifest_of(result))


def change(file: Path, path: Where, to: Callable[[Any], Any]) -> None:
    """Change one value of a JSON file; if it is of a result with a manifest, that one, too."""
    document = inner = json.loads(file.read_text())
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to(inner[path[-1]])
    file.write_text(json.dumps(document, indent=1))
    for result in file.parents:
        if (result / "manifest.json").exists():
            listed_anew(result)


def numbers(value: Any, path: Where = ()) -> Iterator[Where]:
    """Yield the path of each number of a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from numbers(inner, (*path, number))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path
