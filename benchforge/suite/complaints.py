"""Faults of a suite as they are found, each where its value was written."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, JsonValue, ValidationError

from benchforge.parts.part import Part
from benchforge.suite.document import Document, Setting
from benchforge.suite.faults import SHOWN, Fault, Hint, Nearest, SuiteErrors
from benchforge.suite.located import located
from benchforge.suite.positions import Path, Spot
from benchforge.suite.redact import hiding
from benchforge.suite.typed import typed
from benchforge.suite.words import Finding, findings

M = TypeVar("M", bound=BaseModel)


class _Complaint(NamedTuple):
    """A fault that is not written out yet."""

    path: Path | None
    "None for an option of the command line."
    message: str
    hint: Hint
    option: str = ""


class Complaints:
    """Collects the faults of a document, so that all are told at once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._found: dict[tuple[tuple[int, ...], Path | str, str], _Complaint] = {}
        self._told: set[Path] = set()

    def at(self, path: Path, message: str, hint: Hint = "") -> None:
        """Complain of the value at a path; the same complaint of the same place counts once."""
        self._told.add(path)
        match self._document.origin(path):
            case Spot() as spot:
                order: tuple[int, ...] = (0, spot.line, spot.column)
            case None:
                order = (0,)
            case Setting():
                order = (1,)
        # A value that was written for several labels is wrong once.
        place = self._document.written(path)
        self._found.setdefault((order, place, message), _Complaint(path, message, hint))

    def of_option(self, option: str, message: str, hint: Hint = "") -> None:
        """Complain of an option of the command line."""
        found = _Complaint(None, message, hint, option)
        self._found.setdefault(((2,), option, message), found)

    def parse(self, model: type[M], data: Mapping[str, JsonValue], path: Path) -> M | None:
        """Return the model of a table; complain of what is wrong and return None."""
        try:
            return typed(model, data)
        except ValidationError as error:
            self.of_model(error, model, data, path)
            return None

    def parse_rest(
        self, model: type[M], data: Mapping[str, JsonValue], needed: Collection[str]
    ) -> M | None:
        """Return the model of what is sound in a faulty table, so that it can be looked at too.

        None when one of the `needed` keys is faulty.
        """
        try:
            return typed(model, data)
        except ValidationError as error:
            faulty = {str(found.path[0]) for found in findings(error, dict(data)) if found.path}
        try:
            rest = {key: value for key, value in data.items() if key not in faulty}
            return None if faulty & set(needed) else typed(model, rest)
        except ValidationError:
            return None

    def of_model(
        self,
        error: ValidationError,
        model: type[BaseModel],
        data: Mapping[str, JsonValue],
        path: Path,
    ) -> None:
        """Complain of what pydantic found in the table at a path."""
        every = list(findings(error, dict(data)))
        for found in (*every, *_beside(every, model, data)):
            where = (*path, *found.path)
            if where in self._told:  # a value that is missing is also of the wrong type
                continue
            owner = _owner(model, found.path[:-1]) if found.unknown else None
            hint: Hint = takes(found.unknown, owner) if owner else found.hint
            message = found.message
            if found.unknown:
                message = "unknown option" if owner and issubclass(owner, Part) else "unknown key"
            self.at(where, message, hint)

    def settle(self, environment: Iterable[str]) -> None:
        """Raise SuiteErrors when there is a fault, in the order of the file, without secrets.

        `environment` is what was taken from there. Faults that are not printed have no excerpt.
        """
        if not self._found:
            return
        hide = hiding(self._document.tables, environment)
        ordered = sorted(self._found.items(), key=lambda item: item[0][0])
        raise SuiteErrors(
            [self._fault(one, hide) for _, one in ordered[:SHOWN]]
            + [Fault(self._place(order), one.message) for (order, _, _), one in ordered[SHOWN:]]
        )

    def _place(self, order: tuple[int, ...]) -> str:
        return ":".join([self._document.shown, *map(str, order[1:])])

    def _fault(self, one: _Complaint, hide: Callable[[str], str]) -> Fault:
        if one.path is None:
            return Fault(one.option, one.message, hint=one.hint)
        return located(self._document, one.path, one.message, one.hint, hide=hide)


def _beside(
    every: Sequence[Finding], model: type[BaseModel], data: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    """Yield what else the model would say of its options if those that are faulty were not there.

    pydantic asks a model's own validators only when every option is right.
    """
    faulty = {str(found.path[0]) for found in every if found.path}
    while faulty and (rest := {key: data[key] for key in data.keys() - faulty}):
        try:
            typed(model, rest)
        except ValidationError as error:
            news = list(findings(error, rest))
        else:
            return
        new = {str(found.path[0]) for found in news if found.options and found.path} - faulty
        yield from (one for one in news if one.options and not faulty & set(one.options))
        if not new:
            return
        faulty |= new


def takes(unknown: str, model: type[BaseModel]) -> Hint:
    """Return a hint for an unknown key of a model: the nearest, and what it takes."""
    owner = model.name if issubclass(model, Part) else "this table"
    return Nearest(unknown, options(model), f"{owner} takes")


def _owner(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """Return the model at a path below a model."""
    annotation: object = model
    for step in path:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            fields = annotation.model_fields.items()
            found = (field.annotation for name, field in fields if step in {name, field.alias})
            annotation = next(found, None)
        else:
            annotation = (get_args(annotation) or (None,))[-1]
        if get_origin(annotation) is UnionType:  # a table that may be left out
            annotation = get_args(annotation)[0]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def options(model: type[BaseModel]) -> list[str]:
    """Return the options of a model as TOML writes them: its own before the inherited ones."""
    inherited = getattr(model.__base__, "model_fields", {})
    fields = sorted(model.model_fields.items(), key=lambda item: item[0] in inherited)
    return [field.alias or name for name, field in fields]
