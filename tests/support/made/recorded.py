"""Readings of what load tools printed when it was recorded."""

import json
from pathlib import Path

from benchforge.cli.plugins.examination.inputs import Recording
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Load
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry

OUTPUTS = Path(__file__).parents[2] / "outputs"


def recorded(tool: str, name: str, folder: Path) -> tuple[Reading, Load]:
    """The reading of a real run, and what the tool was told."""
    document = json.loads((OUTPUTS / tool / name / "recording.json").read_text())
    part = Registry().part("loader", tool).model_validate(document["options"])
    assert isinstance(part, Driver)
    return Recording.of(OUTPUTS / tool / name).read(part, folder), part.load()
