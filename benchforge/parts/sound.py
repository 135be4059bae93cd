"""Validation of a part's class, in one line, before anybody uses it."""

from collections.abc import Iterator, Mapping
from inspect import isasyncgenfunction, iscoroutinefunction, signature
from types import new_class
from typing import Any, get_args

from pydantic import ValidationError
from pydantic.errors import PydanticUserError

from benchforge.model.values.units import Measurand
from benchforge.parts.kinds import KINDS, Kind
from benchforge.parts.part import Backend, Client, Loader, Metric, Part, Reporter, Server
from benchforge.parts.reader import Reader

CLASSES: Mapping[Kind, type[Part]] = {
    part.kind: part for part in (Server, Backend, Loader, Client, Metric, Reporter, Reader)
}
"What the parts of a kind subclass."


def unnamed(thing: object) -> str | None:
    """Return why a thing cannot be asked for by kind and name; None when it can."""
    if not (isinstance(thing, type) and issubclass(thing, Part)):
        shown = thing.__name__ if isinstance(thing, type) else repr(thing)
        return f"{shown} is not a part: return subclasses of Loader, Server or another"
    if getattr(thing, "kind", None) not in KINDS:
        return f"{thing.__name__} has no kind: subclass Loader, Server or another, not Part alone"
    name = getattr(thing, "name", None)
    if not isinstance(name, str) or not name:
        return f'{thing.__name__} has no name: write name: ClassVar[str] = "..."'
    return None


def unsound(part: type[Part]) -> str | None:
    """Return the first thing that is wrong with a part's class; None when nothing is."""
    try:
        return next(_faults(part), None)
    except (PydanticUserError, NameError) as error:  # annotations are read when it is first used
        return f"{part.__name__}: its options cannot be read: {str(error).splitlines()[0]}"


def _faults(part: type[Part]) -> Iterator[str]:
    wanted = CLASSES[part.kind]
    if not issubclass(part, wanted):
        yield f"{part.__name__} is no {part.kind}: subclass {wanted.__name__}"
    yield from _shadows(part)
    if open_ := sorted(part.__abstractmethods__):
        yield f"{part.__name__} does not answer: write {', '.join(f'{name}()' for name in open_)}"
    yield from _waits(part, wanted)
    if issubclass(part, Metric):
        for name in ("unit", "better"):
            if not isinstance(getattr(part, name, None), str):
                yield f'{part.__name__} has no {name}: write {name}: ClassVar[...] = "..."'
        if part.measurand not in get_args(Measurand):
            words = ", ".join(get_args(Measurand)[1:])
            yield f"{part.__name__}: measurand {part.measurand!r} is none of: {words}"
        try:
            signature(part.of_trial).bind(*("self", "trial", "label", "window"))
        except TypeError:
            yield f"{part.__name__}: of_trial must take (self, trial, label, window)"
    yield from _defaults(part)


def _waits(part: type[Part], wanted: type[Part]) -> Iterator[str]:
    """Yield the methods that would answer with something to wait for: nobody waits for a part."""
    for name in dir(wanted):
        method = getattr(part, name, None)
        if iscoroutinefunction(method) or isasyncgenfunction(method):
            yield f"{part.__name__}: {name}() is 'async def': write 'def', it is not awaited"


def _shadows(part: type[Part]) -> Iterator[str]:
    for name, field in part.model_fields.items():
        option = f"{part.__name__}: option {name!r}"
        cls = next((base for base in part.__mro__ if name in vars(base)), None)
        if cls is not None:
            example = f"{name}_ = Field(alias={name!r})"
            yield f"{option} hides {cls.__name__}.{name}: call it otherwise, as in {example}"
        ours = [
            base for base in part.__mro__ if issubclass(base, Part) and name in base.model_fields
        ]
        tops = [base for base in ours if base.__module__ == Part.__module__]
        if any(field.annotation != top.model_fields[name].annotation for top in tops):
            yield f"{option} is one of every {part.kind}: its type stays, its default may change"
        if "use" in {name, field.alias}:
            yield f"{part.__name__}: no option can be called 'use': it names the part"


def _defaults(part: type[Part]) -> Iterator[str]:
    """Yield the defaults that no suite could write: pydantic does not look at them by itself."""
    strict: Any = new_class(part.__name__, (part,), {"validate_default": True})
    wrong: dict[str, str] = {}
    made: Part | None = None
    try:
        made = strict.model_validate({})
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False):
            wrong.setdefault(str(detail["loc"][0]) if detail["loc"] else "", detail["msg"])
    for name, field in part.model_fields.items():
        if field.is_required():
            continue
        default = field.get_default(call_default_factory=True, validated_data={})
        option = f"{part.__name__}: option {name!r}: its default {default!r}"
        if (refusal := wrong.get(field.alias or name)) is not None:
            yield f"{option} is refused: {refusal}"
        elif made is not None and (valid := getattr(made, name)) != default:
            yield f"{option} stays as it is: write {valid!r}, which a suite's value becomes"
