"""Models that are kept by the thousand, in less memory."""

from benchforge.model.values.frozen import Frozen

_FIELD_SETS: dict[frozenset[str], set[str]] = {}
_HOLDERS = (Frozen, tuple, dict)


def compact(model: Frozen) -> None:
    """Let a model that was just made share with others what they have in common.

    pydantic keeps with each model a set of the fields that were given: a third of what a trial
    takes. Models that were given the same fields have one set here. Nothing changes it: a copy of
    a model has a set of its own.
    """
    left: list[object] = [model]
    while left:
        inner = left.pop()
        if isinstance(inner, Frozen):
            given = inner.__pydantic_fields_set__
            shared = _FIELD_SETS.setdefault(frozenset(given), given)
            object.__setattr__(inner, "__pydantic_fields_set__", shared)
            left += [one for one in inner.__dict__.values() if isinstance(one, _HOLDERS)]
        elif isinstance(inner, dict):
            left += inner.values()
        elif isinstance(inner, tuple):
            left += inner
