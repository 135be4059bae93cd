"""Python packages of our own interpreter: those that are needed, and the extras of benchforge."""

import importlib.metadata
import re
from collections.abc import Iterator, Mapping

from benchforge.cli.machine.doctor.finding import MachineFinding, ok
from benchforge.cli.machine.doctor.programs import users
from benchforge.model.values.distribution import from_clone, own_distribution
from benchforge.parts.command import Need
from benchforge.run.locate import missing
from benchforge.run.programs.needed import Users, how

_EXTRA = re.compile(r"^([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")


def findings(needs: Mapping[Need, Users]) -> Iterator[MachineFinding]:
    """Yield each module that is needed, with the version of what brings it."""
    modules = [need for need in needs if need.kind == "module"]
    absent = set(missing(modules))
    distributions = importlib.metadata.packages_distributions() if modules else {}
    for name in dict.fromkeys(need.name for need in modules):
        of_name = [need for need in modules if need.name == name]
        if of_name[0] in absent:
            places = {place: at for need in of_name for place, at in needs[need].items()}
            yield MachineFinding("missing", name, f"for {users(places)}", how(of_name[0]))
        else:
            brought_by = dict.fromkeys(distributions.get(name.partition(".")[0], ()))
            versions = [
                f"{distribution} {importlib.metadata.version(distribution)}"
                for distribution in brought_by
            ]
            yield ok(name, ", ".join(versions) or "of no distribution")


def extras() -> Iterator[MachineFinding]:
    """Yield each extra of benchforge: whether what it brings is there."""
    by_extra: dict[str, list[str]] = {}
    for requirement in own_distribution().requires or ():
        if (match := _EXTRA.match(requirement)) and match[2] != "all":
            by_extra.setdefault(match[2], []).append(match[1])
    for extra, names in by_extra.items():
        absent = [name for name in names if not _installed(name)]
        subject = f"extra {extra}"
        if absent:
            message = f"{', '.join(absent)}, of {len(names)}"
            yield MachineFinding("missing", subject, message, from_clone(extra))
        else:
            yield ok(subject, f"all of its {len(names)}")


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
