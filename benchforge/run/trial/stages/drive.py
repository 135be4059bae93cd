"""Running a load tool to its end."""

import signal
from typing import NamedTuple

from benchforge.errors import OutputDamaged, TrialFailed
from benchforge.model.values.cpus import Cpus
from benchforge.parts.command import Finished
from benchforge.parts.fault import commands_of
from benchforge.parts.part import Driver
from benchforge.parts.site import Target
from benchforge.run.http.monitor import Monitoring
from benchforge.run.sandbox.keeper import LARGEST_OUTPUT
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint, last_lines
from benchforge.run.trial.scope import TrialRecorder
from benchforge.run.watch.sampler import EVERY_S, Watch
from benchforge.text import door
from benchforge.text.readable import conjoined, exact


class LoadToolRun(NamedTuple):
    """One run of a load tool, on these CPUs or on all."""

    driver: Driver
    target: Target
    label: str
    cpus: Cpus | None = None
    length_s: float | None = None
    "Length of a load that counts nothing, in seconds: a tool that a signal may end is killed then."


def drive(
    sandbox: Sandbox,
    tool: LoadToolRun,
    recorder: TrialRecorder,
    watched: Watch | None = None,
    monitor: Monitoring | None = None,
) -> tuple[Finished, ...]:
    """Run a load tool to its end; the watch and the monitor look meanwhile.

    Raises TrialFailed when it exceeds its time and grace, OutputDamaged when it prints too much.
    """
    driver, target, label, length_s = tool.driver, tool.target, tool.label, tool.length_s
    for name, text in driver.files(target).items():
        door.write(target.folder, name, text.encode(), lasting=False, mode=door.OWN)
    commands = commands_of(driver, target)
    processes: list[Running] = []
    if monitor is not None:
        monitor.listen()
    for index, command in enumerate(commands):
        name = label if index == 0 else f"{label}-{index}"
        processes.append(sandbox.start(name, command, target.folder, {}, tool.cpus))
        recorder.runs(processes[-1])
        if watched is not None:
            watched.add(name, "loader", processes[-1])
    declared_s, grace_s = driver.declared_s(), driver.grace_s()
    within = declared_s + grace_s
    if length_s is None or length_s >= declared_s or driver.interrupted_by is None:
        finished = _ended(sandbox, processes[0], within, watched, monitor)
    else:
        finished = sandbox.wait(processes[0], length_s)
        finished = finished or sandbox.stop(processes[0], first=signal.SIGKILL)
    if finished is None:
        sandbox.stop(processes[0], first=signal.SIGKILL)
        reason = driver.why_unended(last_lines(processes[0].stdout))
        load = f"its load takes {exact(declared_s)} s, and {exact(grace_s)} s more were left to it"
        message = f"{label}: {commands[0].argv[0]} did not end within {exact(within)} s: {load}"
        hint = reason or "it was ended; see its output in the trial's folder"
        raise TrialFailed("drive", message, hint, complaint(processes[0]))
    if cut := sandbox.cut(processes[0]):
        message = f"{label}: its {conjoined(cut)} went on after {LARGEST_OUTPUT >> 20} MiB: cut off"
        raise OutputDamaged(message, "benchforge needs the complete output of a load tool")
    return (finished, *(sandbox.stop(other) for other in processes[1:]))


def _ended(
    sandbox: Sandbox, tool: Running, within: float, watch: Watch | None, monitor: Monitoring | None
) -> Finished | None:
    if watch is None:
        return sandbox.wait(tool, within)

    def look() -> None:
        watch.sample()
        if monitor is not None:
            monitor.look()

    if monitor is not None:
        monitor.look()
    finished = sandbox.wait(tool, within, every_s=EVERY_S, on_tick=look)
    watch.sample()  # how long nobody looked is known up to here
    if monitor is not None:
        monitor.end()
    return finished
