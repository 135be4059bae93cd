"""The files of a result: every field, drawn from the models that read and write them."""

import re
from collections.abc import Iterator
from typing import get_args

from benchforge_author.options import Option, options
from pydantic import BaseModel

from benchforge.model.files.calibration import Calibration
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.rows import SYSTEM_COLUMNS, UsageRow
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
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
        "A result is a folder. Each file says its `kind` and its `format`, the number 2. "
        "benchforge 0.1.0 is the last version that reads format 1. "
        "A number is finite or null, and null has a reason beside it. `benchforge validate` "
        "reads any of them. `calibration.json` is about the machine, and stands in "
        "`$XDG_STATE_HOME/benchforge` (without that, in `~/.local/state`).",
        *(_section(model, f"`{name}`") for model, name in files.items()),
        _usage(),
        _system(),
        "## Tables inside of them",
        *(_section(model, model.__name__, 3) for model in sorted(nested, key=_name)),
    )


def _name(model: type[BaseModel]) -> str:
    return model.__name__


def _reached(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a model and all that its fields hold."""
    yield model
    for field in model.model_fields.values():
        for inner in _models(field.annotation):
            yield from _reached(inner)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _section(model: type[BaseModel], title: str, level: int = 2) -> str:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    rows = [_row(one, list(_models(fields[one.name].annotation))) for one in options(model)]
    head = ("field", "holds", "unit", "what it is")
    doc = _NULL.sub("null", doc_of(model))
    return "\n\n".join([f"{'#' * level} {title}", doc, table(head, rows)])


def _usage() -> str:
    fields = [_row(one, []) for one in options(UsageRow)]
    head = ("column", "holds", "unit", "what it is")
    return "\n\n".join(["## `trials/0001/usage.csv`", doc_of(UsageRow), table(head, fields)])


def _system() -> str:
    says = (
        "What the machine and the trial's network did, four times a second. A number is what was "
        "added since the load began, but for those that were read as they were. What moves slowly "
        "is read once a second; a column that the kernel does not tell is not there."
    )
    rows = [(f"`{name}`", plain(doc)) for name, doc in SYSTEM_COLUMNS.items()]
    heading = "## `trials/0001/system.csv`"
    return "\n\n".join([heading, says, table(("column", "what it is"), rows)])


def _anchor(model: type[BaseModel]) -> str:
    """Return the name of a model's heading, as a page makes it: a file's is its path."""
    title = next((name for name, one in _FILES if one is model), model.__name__)
    return re.sub(r"[^\w-]", "", title.lower())


def _row(one: Option, inner: list[type[BaseModel]]) -> tuple[str, ...]:
    """Return the line of a field. Raises ValueError for one without a sentence."""
    if not one.doc:
        raise ValueError(f"field {one.name!r} has no sentence below it")
    links = ", ".join(f"[{model.__name__}](#{_anchor(model)})" for model in inner)
    holds = f"{plain(one.type)}: {links}" if links else plain(one.type)
    return f"`{one.name}`", holds, _unit(one.name), plain(_NULL.sub("null", one.doc))


def _unit(name: str) -> str:
    if name == "seconds":
        return "s"
    return next((unit for end, unit in _UNITS if name.endswith(end)), "")
