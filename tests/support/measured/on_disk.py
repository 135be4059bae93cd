"""What a run left on the disk, as tests read and change it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchforge.model.files.folder import read_trials
from benchforge.model.summary.summary import Summary


def only_result(folder: Path) -> Path:
    """Return the only result of a folder."""
    (result,) = (folder / "results" if (folder / "results").exists() else folder).iterdir()
    return result


def summary_of(result: Path) -> Summary:
    return Summary.model_validate_json((result / "summary.json").read_text())


def trials_of(result: Path) -> list[dict[str, Any]]:
    """Return the trials of a result, as they are written."""
    return [json.loads(file.read_text()) for file in sorted(result.glob("trials/*/trial.json"))]


def places(result: Path) -> list[tuple[int, int]]:
    """Return block and position of each trial."""
    return [(trial.block, trial.position) for trial in read_trials(result)]


def cut_off(result: Path, count: int) -> Path:
    """Leave so many trials, a half one, and nothing that was formed of them, as a kill does."""
    for trial in sorted(result.glob("trials/*"))[count:]:
        (trial / "trial.json").unlink()
    for made in ("summary.json", "report.md", "report.html", "raw.md", "manifest.json"):
        (result / made).unlink()
    return result


def edited(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a document."""
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
