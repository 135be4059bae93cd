"""How loud this machine is: measured in rounds of the null server, kept, and read by runs."""

import hashlib
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchforge.checks import ask, quiet
from benchforge.checks.limits import Limits
from benchforge.errors import CannotKeep, NoAnswer
from benchforge.graph import Measure
from benchforge.model.answer import Expect, Request
from benchforge.model.calibration import Calibration, MachineId
from benchforge.model.file import Fault, parse
from benchforge.model.trial import CaseName, Trial
from benchforge.model.units import Duration
from benchforge.parts.part import Driver
from benchforge.registry import Registry
from benchforge.run.facts import facts
from benchforge.run.ground import Ground, found
from benchforge.run.host import LocalHost
from benchforge.run.keep import whole
from benchforge.run.kernel import text
from benchforge.run.locate import locate
from benchforge.run.measure import measure
from benchforge.run.null import LABEL, NullServer
from benchforge.run.scratch import scratch_folder
from benchforge.suite.case import Case

FILE = "calibration.json"
CONNECTIONS = 16
BODY_BYTES = 64
_SYSTEM = Path("/")
_HARDWARE = ("cpu", "cpus", "memory_kb", "machine")


def place() -> Path:
    """Return where it is kept: in $XDG_STATE_HOME/benchforge, ~/.local/state without it.

    Raises CannotKeep where there is no home.
    """
    try:
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise CannotKeep("there is no home to keep it in", "set XDG_STATE_HOME") from error
    return Path(home).absolute() / "benchforge" / FILE


def machine(root: Path = _SYSTEM) -> MachineId:
    """Return what this machine is known by; its own id is told to nobody."""
    told = facts(root)
    own = [text(root, "etc/machine-id") or "", *(str(told[name]) for name in _HARDWARE)]
    return MachineId(
        id=hashlib.sha256("\n".join(["benchforge", *own]).encode()).hexdigest()[:16],
        kernel=platform.release(),
        cpus=len(os.sched_getaffinity(0)),
    )


def kept() -> Calibration | list[Fault] | None:
    """Return what is kept, what is wrong with it, or None where there is nothing."""
    try:
        file = place()
    except CannotKeep:
        return None
    if not file.exists():
        return None
    read = parse(file, Calibration)
    return read if isinstance(read, list) else read.model


def stale(calibration: Calibration, limits: Limits) -> str:
    """Return why a calibration is not of this machine as it is now; empty where it is."""
    then, now = calibration.machine, machine()
    if then.id != now.id:
        return "it is of another machine"
    if then.kernel != now.kernel:
        return f"it is of kernel {then.kernel}, this is {now.kernel}"
    if then.cpus != now.cpus:
        return f"it is of {then.cpus} CPUs, now {now.cpus} may be used"
    if calibration.limits != limits.version:
        return f"it is of thresholds {calibration.limits}, these are {limits.version}"
    return ""


def tool(seconds: int, registry: Registry) -> Driver:
    """Return the load of a round: wrk where it is installed, else pace; both as fast as they go."""
    name = "wrk" if locate("wrk") else "pace"
    options = {"connections": CONNECTIONS, "duration": Duration(seconds)}
    made = registry.part("loader", name).model_validate(options)
    assert isinstance(made, Driver)  # noqa: S101 - the kind says so
    return made


def rounds(driver: Driver, count: int, limits: Limits) -> Iterator[Trial]:
    """Yield so many trials of the null server. Raises NoAnswer for one that fails."""
    ground = Ground(
        host=LocalHost(),
        programs=found(driver.needs()),
        python=Path(sys.executable),
        suite_folder=Path.cwd(),
        network="private",
        secrets=frozenset(),
        as_root=os.geteuid() == 0,
    )
    case = Case(
        name=CaseName(scenario="calibrate", server=LABEL, driver=driver.name, vary={}, digest=""),
        server=NullServer(body_bytes=BODY_BYTES),
        backends=(),
        driver=driver,
        request=Request(),
        expect=Expect(length=BODY_BYTES),
        metrics=(),
        warm_up_s=0.0,
    )
    for number in range(1, count + 1):
        with scratch_folder() as scratch:
            folder = scratch / "round"
            folder.mkdir()
            step = Measure(block=number, position=1, case=case, seed=0)
            trial = measure(step, number, 1, ground, folder, None, lambda _: None).trial
        if trial.failure is not None:
            raise NoAnswer(f"round {number}: {trial.failure.message}", trial.failure.hint)
        yield trial.model_copy(update={"checks": (*trial.checks, *ask.of_trial(trial, limits))})


def calibration_of(trials: Sequence[Trial], driver: Driver, limits: Limits) -> Calibration:
    """Return what rounds say. `limits` are those that come with benchforge."""
    values, unknown = quiet.seen(trials, limits)
    readings = [trial.reading for trial in trials if trial.reading is not None]
    return Calibration(
        created=datetime.now(UTC),
        benchforge=importlib.metadata.version("benchforge"),
        machine=machine(),
        limits=limits.version,
        loader=driver.name,
        seconds=driver.declared_s(),
        per_second=tuple(one.responses / one.seconds for one in readings),
        seen={id_: tuple(one) for id_, one in values.items()},
        unknown=unknown,
    )


def keep(calibration: Calibration) -> Path:
    """Write it, in place of an older one. Raises CannotKeep where that fails."""
    file = place()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        whole(file, calibration)
    except OSError as error:
        hint = "make room or give rights there, or set XDG_STATE_HOME"
        raise CannotKeep(f"{error.filename or file}: {error.strerror}", hint) from error
    return file
