"""What installed parts need by themselves, before a suite says anything of them."""

from collections.abc import Iterator

from benchforge.errors import BenchforgeError
from benchforge.parts.command import Need
from benchforge.parts.part import Kind, Part
from benchforge.parts.registry import Registry
from benchforge.run.programs.needed import Needed

_KINDS: tuple[Kind, ...] = ("server", "backend", "loader", "client")


def installed(registry: Registry) -> Needed:
    """Return what every installed part needs with its defaults, and with each of its flags set.

    What depends on an option without a default is told by a suite only. A plugin that cannot be
    imported is left out: it breaks only the suites that name it.
    """
    form = Needed()
    for kind in _KINDS:
        for name in registry.names(kind):
            try:
                cls = registry.part(kind, name)
            except BenchforgeError:
                continue
            form.parts[kind, name, ""] = cls.model_construct()
            for need in _needs(cls):
                form.needs.setdefault(need, {})[f"{kind} {name}"] = {}
    return form


def _needs(cls: type[Part]) -> Iterator[Need]:
    flags = [name for name, field in cls.model_fields.items() if field.annotation is bool]
    for options in ({}, *({flag: True} for flag in flags)):
        try:
            yield from cls.model_construct(None, **options).needs()
        except AttributeError:  # of an option that only a suite gives
            continue
