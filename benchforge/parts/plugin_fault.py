"""Whose fault an error is that nobody awaited: a plugin's code may raise anything."""

from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.trial.reading import Reading
from benchforge.parts.command import Command
from benchforge.parts.fault import fault, in_a_line
from benchforge.parts.part import Driver, Part
from benchforge.parts.site import Output, Target

_LONGER_THAN_SLICES_S = 3600


def reading_of(driver: Driver, output: Output) -> Reading:
    """Return what a driver reads. Raises OutputDamaged for whatever else it does."""
    try:
        reading: object = driver.read(output)
    except (BenchforgeError, OSError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # a parser of command lines exits where it complains
        raise fault(driver, "read", in_a_line(error), OutputDamaged) from error
    if not isinstance(reading, Reading):
        returned = f"it returns {type(reading).__name__}, and no Reading"
        raise fault(driver, "read", returned, OutputDamaged)
    return reading


def commands_of(driver: Driver, target: Target) -> Sequence[Command]:
    """Return the commands of a load. Raises BenchforgeError for what is none."""
    commands: Any = driver.commands(target)
    listed = isinstance(commands, list | tuple)
    if listed and commands and all(isinstance(one, Command) for one in commands):
        return list(commands)
    returned = f"it returns {commands!r}, and no list of Command"
    raise fault(driver, "commands", returned)


def warming(driver: Driver, seconds: float) -> Driver:
    """Return the load of a warm-up. Raises BenchforgeError for what is none."""
    shorter: object = driver.for_warm_up(seconds)
    if isinstance(shorter, Driver):
        return shorter
    returned = f"it returns {type(shorter).__name__}, and no {type(driver).__name__}"
    raise fault(driver, "for_warm_up", returned)


def covering(driver: Driver) -> Driver:
    """Return a driver whose load covers all slices by its own clock, where a signal ends it."""
    return driver if driver.interrupted_by is None else warming(driver, _LONGER_THAN_SLICES_S)


def blamed(error: Exception) -> BenchforgeError | None:
    """Return what a user is told of an error that came out of a part's method.

    None for one that did not: that is a fault of our own.
    """
    called = None
    for frame in _frames(error):
        part = frame.f_locals.get("self")
        if isinstance(part, Part):
            called = (part, frame.f_code.co_name)
    if called is None:
        return None
    part, question = called
    return fault(part, question, in_a_line(error))


def _frames(error: Exception) -> Iterator[FrameType]:
    place = error.__traceback__
    while place is not None:
        yield place.tb_frame
        place = place.tb_next
