"""A result of a real run, of load tools that tell different things: what tests then change."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, needed, needed_module
from measured.once import measured_once
from suite_texts.files import suite_text

from benchforge.run.disk.manifest import manifest_of
from benchforge.run.disk.result_writer import whole

Where = tuple[str | int, ...]
"The path of a value in a JSON file."

SUITE = suite_text("support/measured/real_result")


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
    return measured_once(folders, "validate", measured)


def copied(result: Path, folder: Path) -> Path:
    """Return a copy of a result, to be changed."""
    return Path(shutil.copytree(result, folder / "changed" / result.name))


def trial_of(result: Path, driver: str) -> Path:
    """Return the first trial.json of a driver."""
    items = sorted(result.glob("trials/*/trial.json"))
    return next(file for file in items if json.loads(file.read_text())["case"]["driver"] == driver)


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
