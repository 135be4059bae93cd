"""Programs that are there, with path and version, and those that are not."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok
from benchforge.parts.command import Need
from benchforge.run.locate import locate
from benchforge.run.programs.needed import Users, how
from benchforge.text.readable import listed

_SHOWN = 3


def findings(
    needs: Mapping[Need, Users], suite_folder: Path, versions: Mapping[str, str]
) -> Iterator[MachineFinding]:
    """Yield each program; those that come together and are there are one finding."""
    for group in _together(need for need in needs if need.kind == "program"):
        there: dict[Path, list[str]] = {}
        for need in group:
            if path := locate(need.name, suite_folder):
                there.setdefault(path.parent, []).append(need.name)
            else:
                yield MachineFinding("missing", need.name, f"for {users(needs[need])}", how(need))
        for folder, names in there.items():
            others = f", with {', '.join(names[1:])}" if names[1:] else ""
            version = next((versions[name] for name in names if name in versions), "")
            shown = f": {version}" if version else ""
            yield ok(Path(names[0]).name, f"{folder / Path(names[0]).name}{shown}{others}")


def _together(needs: Iterable[Need]) -> Iterable[list[Need]]:
    groups: dict[str, list[Need]] = {}
    for need in needs:
        groups.setdefault(need.debian or need.name, []).append(need)
    return groups.values()


def users(places: Users) -> str:
    """Return who needs something, for a person."""
    entries = [
        f"{place} ({', '.join(scenarios)})" if scenarios else place
        for place, scenarios in places.items()
    ]
    return listed(entries, _SHOWN)
