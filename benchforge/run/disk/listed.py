"""Which reports in a result are ours to remove: those known by name, and those that are listed."""

import re
from collections.abc import Mapping
from pathlib import Path

from benchforge.text import door

LISTED = "reports.sha256"
"What reporters of plugins wrote into a result, as `sha256sum` lists files; ours have known names."

_LINE = re.compile("(?P<digest>[0-9a-f]{64})  (?P<name>.+)")
_MOST = door.MIB


def listed(folder: Path, name: str, place: Path) -> None:
    """Note that a report is about to be moved here from a place. Raises OSError if it cannot."""
    there = {**_digests(folder), name: door.sha256(place, name)}
    lines = (f"{digest}  {one}\n" for one, digest in sorted(there.items()))
    door.write(folder, LISTED, "".join(lines).encode())


def reports(folder: Path) -> frozenset[str]:
    """Return the names of the reports in a result; one that was changed since is no report."""
    return frozenset(name for name, digest in _digests(folder).items() if _is(folder, name, digest))


def _digests(folder: Path) -> Mapping[str, str]:
    try:
        text = door.read(folder, LISTED, _MOST).decode()
    except (OSError, ValueError):
        return {}
    lines = map(_LINE.fullmatch, text.splitlines())
    return {one["name"]: one["digest"] for one in lines if one}


def _is(folder: Path, name: str, digest: str) -> bool:
    try:
        return door.sha256(folder, name) == digest
    except OSError:
        return False
