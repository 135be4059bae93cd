"""`benchforge schema`: JSON Schema of suites and of result files, for editors and validators."""

import json
from pathlib import Path

import click

from benchforge.cli.say import show, warn
from benchforge.errors import CannotKeep
from benchforge.model.calibration import Calibration
from benchforge.model.ceiling import Ceiling
from benchforge.model.described import Schema, file_schema
from benchforge.model.frozen import Frozen
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.registry import Registry, brought
from benchforge.suite.schema import suite_schema

_FILES: dict[str, type[Frozen]] = {
    "result": Header,
    "trial": Trial,
    "summary": Summary,
    "sitting": Sitting,
    "ceiling": Ceiling,
    "calibration": Calibration,
}


@click.command("schema")
@click.argument("of", type=click.Choice(["suite", *_FILES]), default="suite")
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Instead of stdout."
)
@click.option("--builtin", is_flag=True, help="Only with the parts that benchforge brings.")
def command(of: str, output: Path | None, builtin: bool) -> None:
    """Print the JSON Schema of suites, or of a file of a result.

    That of suites has the options of every part that is installed. Name it in a suite's first
    line, such as #:schema suite.schema.json, and editors complete, explain and check.
    """
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
    return json.dumps(schema, indent=2, ensure_ascii=False)
