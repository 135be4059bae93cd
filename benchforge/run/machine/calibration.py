"""Noise of this machine, as `benchforge calibrate` measured and kept it."""

import contextlib
import hashlib
import os
import platform
from pathlib import Path

from benchforge.checks.limits import Thresholds
from benchforge.errors import CannotKeep
from benchforge.model.files.calibration import Calibration, MachineId
from benchforge.model.files.file import FileFault, parse_named
from benchforge.run.machine.facts import facts
from benchforge.run.machine.quiet import text

FILE = "calibration.json"
_SYSTEM = Path("/")
_HARDWARE = ("cpu", "cpus", "machine")  # memory differs by some pages from boot to boot


def place() -> Path:
    """Return its place in $XDG_STATE_HOME, or ~/.local/state. Raises CannotKeep without a home."""
    try:
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise CannotKeep("there is no home directory for it", "set XDG_STATE_HOME") from error
    return Path(home).absolute() / "benchforge" / FILE


def machine(root: Path = _SYSTEM) -> MachineId:
    """Return an identity of this machine that hides its own id."""
    machine_facts = facts(root)
    # Elsewhere than on Linux results are read, and `doctor` says that nothing can run.
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parts = [text(root, "etc/machine-id") or "", *(str(machine_facts[name]) for name in _HARDWARE)]
    digest = hashlib.sha256("\n".join(["benchforge", *parts]).encode()).hexdigest()[:16]
    return MachineId(id=digest, kernel=platform.release(), cpus=cpus)


def kept() -> Calibration | list[FileFault] | None:
    """Return what is kept, what is wrong with it, or None where there is nothing."""
    try:
        file = place()
    except CannotKeep:
        return None
    with contextlib.suppress(PermissionError):  # which is told as it is read
        if not file.exists():
            return None
    read = parse_named(file, Calibration)
    return read if isinstance(read, list) else read.model


def stale(calibration: Calibration, limits: Thresholds) -> str:
    """Return why a calibration is not of this machine as it is now; empty where it is."""
    then, current = calibration.machine, machine()
    if then.id != current.id:
        return "it is of another machine"
    if then.kernel != current.kernel:
        return f"it is of kernel {then.kernel}, this is {current.kernel}"
    if then.cpus != current.cpus:
        return f"it is of {then.cpus} CPUs, now {current.cpus} may be used"
    if calibration.thresholds_version != limits.version:
        return f"it is of thresholds {calibration.thresholds_version}, these are {limits.version}"
    return ""
