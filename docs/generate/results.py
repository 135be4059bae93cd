"""The files of a result: every field, drawn from the models that read and write them."""

import re
from collections.abc import Iterator
from types import NoneType
from typing import get_args

from pydantic import BaseModel

from benchforge.cli.plugins.options import Option, options
from benchforge.cli.suites.schema.json_schema import written_below
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.rows import SYSTEM_COLUMNS, UsageRow
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.results.opened import RatioValue, TrialValue
from docs.generate.text import doc_of, page_of, plain, table

_NULL = re.compile(r"\bNone\b")
"Python's word for JSON's null, in sentences that authors of plugins read, too."
_UNITS = (("_us", "µs"), ("_s", "s"), ("_bytes", "bytes"))
_FILES = (
    ("result.json", Header),
    ("trials/0001/trial.json", Trial),
    ("summary.json", Summary),
    ("sessions/0002.json", Session),
    ("ceilings/0001/ceiling.json", Ceiling),
    ("manifest.json", Manifest),
    ("calibration.json", Calibration),
)


def page() -> str:
    """Return the page."""
    shown: dict[type[BaseModel], None] = {}
    for _, model in _FILES:
        for one in _reached(model):
            shown.setdefault(one)
    files = {model: name for name, model in _FILES}
    nested = [model for model in shown if model not in files]
    return page_of(
        "Files of a result",
        "A result is a folder. Each of its JSON files has a `kind` and a `format`, the number 2. "
        "benchforge 0.1.0 is the last version that reads format 1. A number is finite or null. "
        "null means unknown, unless the description says otherwise. `benchforge validate` checks "
        "any of these files. `calibration.json` describes the machine: it is in "
        "`$XDG_STATE_HOME/benchforge`, by default `~/.local/state/benchforge`.",
        *(_section(model, f"`{name}`") for model, name in files.items()),
        _usage(),
        _system(),
        "## Rows for programs\n\n`benchforge.results.open` "
        "[returns](../how-to/results-in-programs.md) these rows. `numbers.csv` and "
        "`numbers.json` have the columns of `TrialValue`.",
        *map(_fields, (TrialValue, RatioValue)),
        "## Tables in these files",
        *(_section(model, model.__name__, 3) for model in sorted(nested, key=_name)),
    )


def _name(model: type[BaseModel]) -> str:
    return model.__name__


def _reached(
    model: type[BaseModel], above: tuple[type[BaseModel], ...] = ()
) -> Iterator[type[BaseModel]]:
    """Yield a model and all that its fields hold; a reading may hold readings."""
    yield model
    for field in model.__pydantic_fields__.values():
        for inner in _models(field.annotation):
            if inner not in (*above, model):
                yield from _reached(inner, (*above, model))


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and hasattr(annotation, "__pydantic_fields__"):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _section(model: type[BaseModel], title: str, level: int = 2) -> str:
    fields = {field.alias or name: field for name, field in model.__pydantic_fields__.items()}
    rows = [_row(one, fields[one.name].annotation) for one in options(model)]
    head = ("field", "type", "unit", "description")
    doc = _NULL.sub("null", doc_of(model))
    return "\n\n".join([f"{'#' * level} {title}", doc, table(head, rows)])


def _fields(row: type) -> str:
    """Return the fields of a row, in their order."""
    rows = [(f"`{name}`", plain(doc)) for name, doc in written_below(row).items()]
    return "\n\n".join([f"### {row.__name__}", doc_of(row), table(("field", "description"), rows)])


def _usage() -> str:
    fields = [_row(one, None) for one in options(UsageRow)]
    head = ("column", "type", "unit", "description")
    return "\n\n".join(["## `trials/0001/usage.csv`", doc_of(UsageRow), table(head, fields)])


def _system() -> str:
    says = (
        "The machine and the trial's network over time, four times a second. A value is the "
        "increase since the load began, except those that the table calls current. benchforge "
        "reads slow values once a second. A value that the kernel does not report has no column."
    )
    rows = [(f"`{name}`", plain(doc)) for name, doc in SYSTEM_COLUMNS.items()]
    heading = "## `trials/0001/system.csv`"
    return "\n\n".join([heading, says, table(("column", "description"), rows)])


def _anchor(model: type[BaseModel]) -> str:
    """Return the name of a model's heading, as a page makes it: a file's is its path."""
    title = next((name for name, one in _FILES if one is model), model.__name__)
    return re.sub(r"[^\w-]", "", title.lower())


def _row(one: Option, annotation: object) -> tuple[str, ...]:
    """Return the line of a field. Raises ValueError for one without a sentence."""
    if not one.doc:
        raise ValueError(f"field {one.name!r} has no sentence below it")
    links = ", ".join(f"[{model.__name__}](#{_anchor(model)})" for model in _models(annotation))
    comma = "," if "," in one.type else ""
    null = f"{comma} or null" if NoneType in get_args(annotation) else ""
    holds = plain(one.type) + null + (f": {links}" if links else "")
    return f"`{one.name}`", holds, _unit(one.name), plain(_NULL.sub("null", one.doc))


def _unit(name: str) -> str:
    if name == "seconds":
        return "s"
    return next((unit for end, unit in _UNITS if name.endswith(end)), "")
