"""Faults of a suite as they are found, each where its value was written."""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar, get_args

from pydantic import BaseModel, JsonValue, ValidationError

from benchforge.parts.part import Part
from benchforge.suite.document import Document, Setting
from benchforge.suite.faults import Fault, SuiteErrors, nearest
from benchforge.suite.located import located
from benchforge.suite.positions import Path, Spot
from benchforge.suite.redact import redact
from benchforge.suite.typed import typed
from benchforge.suite.words import findings

M = TypeVar("M", bound=BaseModel)


class Complaints:
    """Collects the faults of a document, so that all are told at once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._faults: dict[tuple[tuple[int, ...], str, str], Fault] = {}
        self._told: set[Path] = set()

    def at(self, path: Path, message: str, hint: str = "") -> None:
        """Complain of the value at a path; the same complaint of the same place counts once."""
        self._told.add(path)
        fault = located(self._document, path, message, hint)
        match self._document.origin(path):
            case Spot() as spot:
                order: tuple[int, ...] = (0, spot.line, spot.column)
            case None:
                order = (0,)
            case Setting():
                order = (1,)
        self._faults.setdefault((order, fault.where, fault.message), fault)

    def of_option(self, option: str, message: str, hint: str = "") -> None:
        """Complain of an option of the command line."""
        self._faults.setdefault(((2,), option, message), Fault(option, message, hint=hint))

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
        for found in findings(error, dict(data)):
            where = (*path, *found.path)
            if where in self._told:  # a value that is missing is also of the wrong type
                continue
            owner = _owner(model, found.path[:-1]) if found.unknown else None
            hint = takes(found.unknown, owner) if owner else ""
            message = found.message
            if found.unknown:
                message = "unknown option" if owner and issubclass(owner, Part) else "unknown key"
            self.at(where, message, hint)

    def settle(self, secrets: Iterable[str]) -> None:
        """Raise SuiteErrors when there is a fault, in the order of the file, without secrets."""
        if not self._faults:
            return
        known = list(secrets)
        raise SuiteErrors(
            [
                Fault(
                    redact(fault.where, known),
                    redact(fault.message, known),
                    redact(fault.excerpt, known),
                    redact(fault.hint, known),
                )
                for _, fault in sorted(self._faults.items(), key=lambda item: item[0][0])
            ]
        )


def takes(unknown: str, model: type[BaseModel]) -> str:
    """Return a hint for an unknown key of a model: the nearest, and what it takes."""
    owner = model.name if issubclass(model, Part) else "this table"
    return nearest(unknown, options(model), f"{owner} takes")


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
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def options(model: type[BaseModel]) -> list[str]:
    """Return the options of a model as TOML writes them: its own before the inherited ones."""
    inherited = getattr(model.__base__, "model_fields", {})
    fields = sorted(model.model_fields.items(), key=lambda item: item[0] in inherited)
    return [field.alias or name for name, field in fields]
