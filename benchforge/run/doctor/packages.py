"""Python packages of our own interpreter: those that are needed, and the extras of benchforge."""

import importlib.metadata
import re
from collections.abc import Iterator, Mapping

from benchforge.parts.command import Need
from benchforge.run.finding import Finding, ok
from benchforge.run.locate import missing
from benchforge.run.needed import Users, how
from benchforge.run.readiness.programs import users

_EXTRA = re.compile(r"^([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")


def findings(needs: Mapping[Need, Users]) -> Iterator[Finding]:
    """Yield each module that is needed, with the version of what brings it."""
    modules = [need for need in needs if need.kind == "module"]
    absent = set(missing(modules))
    known = importlib.metadata.packages_distributions() if modules else {}
    for name in dict.fromkeys(need.name for need in modules):
        of_name = [need for need in modules if need.name == name]
        if of_name[0] in absent:
            places = {place: at for need in of_name for place, at in needs[need].items()}
            yield Finding("missing", name, f"for {users(places)}", how(of_name[0]))
        else:
            brought_by = dict.fromkeys(known.get(name.partition(".")[0], ()))
            versions = [f"{one} {importlib.metadata.version(one)}" for one in brought_by]
            yield ok(name, ", ".join(versions) or "of no distribution")


def extras() -> Iterator[Finding]:
    """Yield each extra of benchforge: whether what it brings is there."""
    by_extra: dict[str, list[str]] = {}
    for requirement in importlib.metadata.requires("benchforge") or ():
        if (found := _EXTRA.match(requirement)) and found[2] != "all":
            by_extra.setdefault(found[2], []).append(found[1])
    for extra, names in by_extra.items():
        absent = [name for name in names if not _installed(name)]
        subject, do = f"benchforge[{extra}]", f'pip install "benchforge[{extra}]"'
        if absent:
            yield Finding("missing", subject, f"{', '.join(absent)}, of {len(names)}", do)
        else:
            yield ok(subject, f"all of its {len(names)}")


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
