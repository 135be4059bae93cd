"""Running a load tool to its end, and what no reading may say."""

import signal

from benchforge.errors import OutputDamaged, TrialFailed
from benchforge.model.answer import Expect, Request
from benchforge.model.cpus import Cpus
from benchforge.model.reading import Reading
from benchforge.model.trial import CaseName
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.parts.site import Target
from benchforge.run.blame import commands_of
from benchforge.run.here import Here, Running, complaint
from benchforge.run.keeper import LARGEST_OUTPUT
from benchforge.run.story import Story
from benchforge.run.tasks import located
from benchforge.run.usage import EVERY_S, Watch

_BAD_FROM = 400  # of a status: good responses have one below
LATE_FACTOR, LATE_S = 1.5, 30.0  # a load tool may take so much longer than it declares


def drive(
    here: Here,
    driver: Driver,
    target: Target,
    label: str,
    story: Story,
    watched: Watch | None = None,
    cpus: Cpus | None = None,
) -> tuple[Finished, ...]:
    """Run a driver to its end, on these CPUs or on all.

    Raises TrialFailed when it is far later than it declares, and OutputDamaged when it prints more
    than is kept.
    """
    for name, text in driver.files(target).items():
        (target.folder / name).write_text(text)
    commands = [located(command) for command in commands_of(driver, target)]
    every: list[Running] = []
    for place, command in enumerate(commands):
        name = label if place == 0 else f"{label}-{place}"
        every.append(here.start(name, command, target.folder, {}, cpus))
        story.runs(command, every[-1])
        if watched is not None:
            watched.add_loader(name, every[-1])
    within = driver.declared_s() * LATE_FACTOR + LATE_S
    if watched is None:
        finished = here.wait(every[0], within)
    else:
        finished = here.wait(every[0], within, every_s=EVERY_S, on_tick=watched.sample)
    if finished is None:
        here.stop(every[0], first=signal.SIGKILL)
        raise TrialFailed(
            "drive",
            f"{label}: {commands[0].argv[0]} did not end within {within:g} s",
            "it was ended; see what it printed beside the trial",
            complaint(every[0]),
        )
    if cut := here.cut(every[0]):
        raise OutputDamaged(
            f"{label}: its {' and '.join(cut)} went on after {LARGEST_OUTPUT >> 20} MiB: cut off",
            "what a load tool prints must be whole to be read",
        )
    return (finished, *(here.stop(other) for other in every[1:]))


def believable(
    reading: Reading, case: CaseName, request: Request, expect: Expect, answered: int
) -> None:
    """Raise TrialFailed when the tool got no good answer, or other bodies than we did."""
    if reading.responses == 0:
        classes = ", ".join(f"{count} {name}" for name, count in reading.errors.items() if count)
        raise TrialFailed(
            "drive",
            f"{case.server}: no response was completed in {reading.seconds:.3g} s "
            f"(errors: {classes or 'none'})",
            "the server answers single requests, but none of the load's; see both logs",
        )
    if reading.good == 0 and expect.status < _BAD_FROM:  # some suites ask for an error
        raise TrialFailed(
            "drive",
            f"{case.server}: none of {reading.responses:,} responses was good",
            "the server answers single requests rightly, and none of the load's; see both logs",
        )
    length = reading.document_bytes
    if length is not None and length != answered and request.method != "HEAD":
        raise TrialFailed(
            "read",
            f"{case.server}: {case.driver} was answered with {length} bytes of body, "
            f"the question with {answered}",
            "the server answers this tool otherwise; compare the two by hand",
        )
