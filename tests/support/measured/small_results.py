"""Results of a real, tiny run; and copies of them that were, say, measured on other days."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench
from measured.once import measured_once
from suite_texts.files import suite_text

_ANSWERS = [sys.executable, str(PROGRAMS / "servers/answers.py"), "--port", "{port}"]
_ANSWERS += ["--wait", "0.003"]  # a load then leaves the CPUs to other tests
SUITE = suite_text(
    "support/measured/small_results", answers=_ANSWERS, ping=[*_ANSWERS, "--body", "ping"]
)


def measured(bench: Bench, folder: Path, *more: str) -> Path:
    """Run it as a smoke, which is measured once on the busiest machine; return its folder."""
    (folder / "small.toml").write_text(SUITE)
    bench("run", folder / "small.toml", "--profile", "smoke", *more, "-o", folder / "first", code=0)
    (result,) = (folder / "first").iterdir()
    return result


def shared(folders: pytest.TempPathFactory) -> Path:
    return measured_once(folders, "small", measured)


def believed(result: Path, folder: Path) -> Path:
    """Return a copy that was no smoke, and that nothing speaks against."""
    copy = Path(shutil.copytree(result, folder))
    write(copy / "result.json", {**read(copy / "result.json"), "smoke": False})
    for path in copy.glob("trials/*/trial.json"):
        write(path, {**read(path), "checks": []})
    return copy


def session(
    result: Path, folder: Path, day: int, by: Mapping[str, float] | None = None, **header: Any
) -> Path:
    """Return a copy that was measured so many days later.

    `by` says how many times as many responses a second each server had; all trials of a server have
    the number of the first, but for 1 % from block to block. `header` is what else is another
    there; a dict is added to what stands there.
    """
    copy = Path(shutil.copytree(result, folder / f"small-{day:03}"))
    changed = read(copy / "result.json")
    begun = datetime.fromisoformat(changed["created"]) + timedelta(days=day)
    changed["created"] = begun.isoformat()
    for name, value in {"smoke": False, **header}.items():
        changed[name] = {**changed[name], **value} if isinstance(value, dict) else value
    write(copy / "result.json", changed)
    first: dict[str, float] = {}
    for path in sorted(copy.glob("trials/*/trial.json")):
        trial = read(path)
        server, reading = trial["case"]["server"], trial["reading"]
        rate = first.setdefault(server, 1000.0 if server == "one" else 2000.0)
        rate *= (by or {}).get(server, 1.0) * (1 + 0.01 * (trial["block"] - 2))
        reading["seconds"] = reading["responses"] / rate
        reading["series"] = None
        write(path, {**trial, "checks": []})
    return copy


def change_cases(result: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the names of all cases, wherever they stand."""
    for file in [result / "result.json", *result.glob("trials/*/trial.json")]:
        document = read(file)
        for case in (
            [document["case"]]
            if "case" in document
            else [*document["cases"], *(item["case"] for item in document["plan"])]
        ):
            change(case)
        write(file, document)


def read(file: Path) -> Any:
    return json.loads(file.read_text())


def write(file: Path, document: Any) -> None:
    file.write_text(json.dumps(document, indent=1))
