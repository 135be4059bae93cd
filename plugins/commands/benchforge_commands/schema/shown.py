"""`benchforge schema`: JSON Schema of suites and of result files, for editors and validators."""

import json
from pathlib import Path

from benchforge.cli.screen.say import show, warn
from benchforge.errors import CannotKeep
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.trial.session import Session
from benchforge.model.values.frozen import Frozen
from benchforge.plugin import Summary, Trial, safe
from benchforge.registry import Registry, brought
from benchforge_commands.schema.json_schema import Schema, file_schema
from benchforge_commands.schema.suite import suite_schema

_FILES: dict[str, type[Frozen]] = {
    "result": Header,
    "trial": Trial,
    "summary": Summary,
    "session": Session,
    "ceiling": Ceiling,
    "manifest": Manifest,
    "calibration": Calibration,
}


def main(of: str, output: Path | None, builtin: bool) -> None:
    """Print the JSON Schema of suites, or of a file of a result."""
    text = _text(file_schema(_FILES[of])) if of in _FILES else of_suites(builtin=builtin)
    if output is None:
        show(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise CannotKeep(f"{output}: {error.strerror}", "choose another file with -o") from error


def of_suites(*, builtin: bool) -> str:
    """Return the schema of suites as it is written; of what is left out it is told."""
    made = suite_schema(Registry(brought()) if builtin else Registry())
    for line in made.left_out:
        warn(line)
    return _text(made.schema)


def _text(schema: Schema) -> str:
    return safe.as_json(json.dumps(schema, indent=2, ensure_ascii=False))
