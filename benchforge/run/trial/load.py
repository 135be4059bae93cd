"""Running a load tool to its end, and what no reading may say."""

import signal

from benchforge import door
from benchforge.errors import OutputDamaged, TrialFailed
from benchforge.model.trial.good_response import GoodResponse
from benchforge.model.trial.reading import Reading
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.cpus import Cpus
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.parts.site import Target
from benchforge.run.locate import with_libraries
from benchforge.run.sandbox.keeper import LARGEST_OUTPUT
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint
from benchforge.run.trial.plugin_fault import commands_of
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.watch.sampler import EVERY_S, Watch
from benchforge.text.readable import amount, conjoined, exact, listed

_SHOWN = 4
LATE_FACTOR, LATE_S = 1.5, 30.0  # a load tool may take so much longer than it declares


def drive(
    sandbox: Sandbox,
    driver: Driver,
    target: Target,
    label: str,
    story: TrialRecorder,
    watched: Watch | None = None,
    cpus: Cpus | None = None,
) -> tuple[Finished, ...]:
    """Run a driver to its end, on these CPUs or on all.

    Raises TrialFailed when it is far later than it declares, and OutputDamaged when it prints more
    than is kept.
    """
    for name, text in driver.files(target).items():
        door.write(target.folder, name, text.encode(), lasting=False, mode=door.OWN)
    commands = [with_libraries(command) for command in commands_of(driver, target)]
    processes: list[Running] = []
    for place, command in enumerate(commands):
        name = label if place == 0 else f"{label}-{place}"
        processes.append(sandbox.start(name, command, target.folder, {}, cpus))
        story.runs(command, processes[-1])
        if watched is not None:
            watched.add_loader(name, processes[-1])
    within = driver.declared_s() * LATE_FACTOR + LATE_S
    if watched is None:
        finished = sandbox.wait(processes[0], within)
    else:
        finished = sandbox.wait(processes[0], within, every_s=EVERY_S, on_tick=watched.sample)
        watched.sample()  # how long nobody looked is known up to here
    if finished is None:
        sandbox.stop(processes[0], first=signal.SIGKILL)
        raise TrialFailed(
            "drive",
            f"{label}: {commands[0].argv[0]} did not end within {exact(within)} s",
            "it was ended; see its output in the trial's folder",
            complaint(processes[0]),
        )
    if cut := sandbox.cut(processes[0]):
        raise OutputDamaged(
            f"{label}: its {conjoined(cut)} went on after {LARGEST_OUTPUT >> 20} MiB: cut off",
            "benchforge needs the complete output of a load tool",
        )
    return (finished, *(sandbox.stop(other) for other in processes[1:]))


def believable(reading: Reading, case: CaseName, right: GoodResponse) -> None:
    """Raise TrialFailed when the tool got no good answer, or other bodies than are right."""
    if reading.responses == 0:
        classes = ", ".join(f"{count} {name}" for name, count in reading.errors.items() if count)
        raise TrialFailed(
            "drive",
            f"{case.server}: no response was completed in {amount('s', reading.seconds)} "
            f"(errors: {classes or 'none'})",
            "the server answers single requests, but none of the load's; see both logs",
        )
    if reading.good_at_most == 0:
        raise TrialFailed(
            "drive",
            f"{case.server}: none of {exact(reading.responses)} responses was "
            f"good: {_got(reading)}, expected were {right.status} and {right.lengths}",
            "the server answers single requests rightly, but none of the load's; see both logs",
        )
    length = reading.document_bytes
    if length is not None and not reading.bodies and not right.fits(length):
        raise TrialFailed(
            "read",
            f"{case.server}: {case.driver} was answered with {length} bytes of body, "
            f"right are {right.lengths}",
            "the server answers this tool differently; if bodies may differ in length, set "
            "`expect.length`",
        )


def _got(reading: Reading) -> str:
    """Return what the responses of a load were, as far as the tool tells."""
    if reading.bodies:
        return ", ".join(
            f"{exact(one.responses)} of status {one.status} with {exact(one.length)} bytes"
            for one in reading.bodies[:_SHOWN]
        )
    statuses = [f"{exact(n)} of status {key}" for key, n in reading.statuses.items() if n]
    return listed(statuses, _SHOWN) if statuses else "of another status"
