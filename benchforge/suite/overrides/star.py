"""`"*"` as a label: options for all parts of a kind that have them.

It holds where it is written, in the suite, in a profile or in --set, and what the same place says
of a label itself comes before it.
"""

from collections.abc import Iterator

from benchforge.errors import Unusable
from benchforge.parts.part import Part
from benchforge.parts.registry import Registry
from benchforge.suite.declared import KINDS, STAR
from benchforge.suite.toml.document import Tables, as_table, merged, paths_of
from benchforge.suite.toml.faults import Fault, Hint, Nearest
from benchforge.suite.toml.models import options
from benchforge.suite.toml.positions import Path


def spread(over: Tables, under: Tables, registry: Registry) -> tuple[Tables, dict[Path, Path]]:
    """Return tables with what stands under "*" given to the labels of `over` and `under`.

    Beside them: each path that has its value from there, with the path where it was written.
    What no part has stays under "*".
    """
    tables, starred = dict(over), dict[Path, Path]()
    for kind in KINDS:
        written = as_table(over.get(kind))
        star = written.get(STAR)
        if not isinstance(star, dict):
            continue
        labels: Tables = {label: table for label, table in written.items() if label != STAR}
        left = dict(star)
        for label, cls in classes(kind, merged(as_table(under.get(kind)), labels), registry):
            taken = {option: star[option] for option in star.keys() & set(options(cls))}
            own = as_table(labels.get(label))
            if taken:
                labels[label] = merged(taken, own)
            for option, value in taken.items():
                left.pop(option, None)
                paths = set(paths_of(value, (kind, label, option)))
                if option in own:
                    paths -= set(paths_of(own[option], (kind, label, option)))
                starred |= {path: (kind, STAR, *path[2:]) for path in paths}
        tables[kind] = {**labels, STAR: left} if left else labels
    return tables, starred


def left_faults(tables: Tables, registry: Registry) -> Iterator[Fault]:
    """Yield a fault for each option under "*" that no part has."""
    for kind, name in KINDS.items():
        declared = as_table(tables.get(kind))
        parts = dict(classes(kind, declared, registry))
        if declared.keys() - {STAR} - parts.keys():
            continue  # nobody knows what those take; they have faults of their own
        names = dict.fromkeys(option for cls in parts.values() for option in options(cls))
        for option in as_table(declared.get(STAR)):
            hint: Hint = f"no {name} is declared"
            if names:
                hint = Nearest(option, names, f"{kind} take")
            yield Fault((kind, STAR, option), f"no {name} has an option {option!r}", hint)


def classes(kind: str, tables: Tables, registry: Registry) -> Iterator[tuple[str, type[Part]]]:
    """Yield each label whose part is there, with its class."""
    for label, table in tables.items():
        use = as_table(table).get("use")
        if label != STAR and isinstance(use, str):
            try:
                yield label, registry.part(KINDS[kind], use)
            except Unusable:
                continue  # it has a fault of its own
