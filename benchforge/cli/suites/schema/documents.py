"""JSON Schemas as they are written: of suites, and of each file of a result."""

import json

from benchforge.cli.console.say import warn
from benchforge.cli.suites.schema.json_schema import Schema, file_schema
from benchforge.cli.suites.schema.suite import suite_schema
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.frozen import Frozen
from benchforge.parts.registry import Registry, brought
from benchforge.text import safe

_FILES: dict[str, type[Frozen]] = {
    "result": Header,
    "trial": Trial,
    "summary": Summary,
    "session": Session,
    "ceiling": Ceiling,
    "manifest": Manifest,
    "calibration": Calibration,
}


def of_file(name: str) -> str:
    """Return the schema of a file of a result as it is written."""
    return _text(file_schema(_FILES[name]))


def of_suites(*, builtin: bool) -> str:
    """Return the schema of suites as it is written; of what is left out it is told."""
    made = suite_schema(Registry(brought()) if builtin else Registry())
    for line in made.left_out:
        warn(line)
    return _text(made.schema)


def _text(schema: Schema) -> str:
    return safe.as_json(json.dumps(schema, indent=2, ensure_ascii=False))
