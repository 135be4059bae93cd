"""What all trials of a result stand on: programs, interpreter, folders. Found before any starts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchforge.errors import ProgramMissing
from benchforge.parts.command import Need
from benchforge.run.host import Host, Network
from benchforge.run.locate import locate, missing


@dataclass(frozen=True)
class Ground:
    """Where trials stand. `secrets` are texts that are never written."""

    host: Host
    programs: Mapping[str, Path]
    python: Path
    suite_folder: Path
    network: Network
    secrets: frozenset[str]
    as_root: bool


def found(needs: Iterable[Need], python: Path, suite_folder: Path = Path()) -> dict[str, Path]:
    """Return where each needed program is; a name with a slash starts at the suite's folder.

    Raises ProgramMissing, naming all that are not there.
    """
    wanted = list(dict.fromkeys(needs))
    if absent := missing(wanted, python, suite_folder):
        names = ", ".join(need.name for need in absent)
        kinds = {need.kind for need in absent}
        what = "program" if kinds == {"program"} else "module" if kinds == {"module"} else "need"
        plural = "s" if len(absent) > 1 else ""
        hint = "; ".join(dict.fromkeys(f"{need.name}: {need.install}" for need in absent))
        raise ProgramMissing(f"missing {what}{plural}: {names}", hint)
    programs: dict[str, Path] = {}
    for need in wanted:
        if need.kind == "program" and (path := locate(need.name, suite_folder)):
            programs[need.name] = path
    return programs
