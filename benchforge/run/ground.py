"""What all trials of a result stand on: programs, interpreter, folders. Found before any starts."""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchforge.errors import ProgramMissing, Unusable
from benchforge.parts.command import Need
from benchforge.parts.part import Part
from benchforge.run.host import Host, LocalHost, Network
from benchforge.run.locate import locate, missing
from benchforge.suite.suite import Suite


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


def ground(suite: Suite, parts: Iterable[Part]) -> Ground:
    """Return the ground of these parts of a suite, on this machine.

    Raises Unusable where nothing can run, and ProgramMissing, naming all that is not there.
    """
    if not sys.platform.startswith("linux"):
        raise Unusable("running needs Linux: namespaces and /proc", "validate works anywhere")
    python = Path(sys.executable)
    needs = [need for part in parts for need in part.needs()]
    return Ground(
        host=LocalHost(),
        programs=found(needs, python, suite.path.parent),
        python=python,
        suite_folder=suite.path.parent.resolve(),
        network=suite.network,
        secrets=suite.secrets,
        as_root=os.geteuid() == 0,
    )


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
