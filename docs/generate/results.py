"""The files of a result: every field, drawn from the models that read and write them."""

import re
from collections.abc import Iterator
from typing import get_args

from pydantic import BaseModel

from benchforge.model.calibration import Calibration
from benchforge.model.ceiling import Ceiling
from benchforge.model.result import Header
from benchforge.model.rows import SYSTEM_COLUMNS, UsageRow
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.parts.options import Option, options
from docs.generate.text import doc_of, page_of, plain, table

_UNITS = (("_us", "µs"), ("_s", "s"), ("_bytes", "bytes"))
_FILES = (
    ("result.json", Header),
    ("trials/0001/trial.json", Trial),
    ("summary.json", Summary),
    ("sittings/0002.json", Sitting),
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
        "A result is a folder. Each file says its `kind` and its `format`, the number 1 today. "
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
    return "\n\n".join([f"{'#' * level} {title}", doc_of(model), table(head, rows)])


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
    return f"`{one.name}`", holds, _unit(one.name), plain(one.doc)


def _unit(name: str) -> str:
    if name == "seconds":
        return "s"
    return next((unit for end, unit in _UNITS if name.endswith(end)), "")
