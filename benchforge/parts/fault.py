"""Errors of a part's methods: the plugin is at fault, and no user."""

from collections.abc import Sequence
from traceback import walk_tb
from typing import Any

from pydantic import ValidationError

from benchforge.errors import BenchforgeError, OutputDamaged
from benchforge.model.trial.reading import Reading
from benchforge.parts.command import Command
from benchforge.parts.part import Driver, Part
from benchforge.parts.site import Output, Target
from benchforge.text.program import program

_LONGER_THAN_SLICES_S = 3600


def fault(
    part: Part, method: str, problem: str, kind: type[BenchforgeError] = BenchforgeError
) -> BenchforgeError:
    """Return the error of a method that raised, or returned, what it should not."""
    hint = f"its plugin is at fault; see: {program()} plugins check {part.kind}-{part.name}"
    return kind(f"{part.kind} {part.name}: {method}(): {problem}", hint)


def in_a_line(error: BaseException) -> str:
    """Return an error as Python names it, its first line alone; pydantic's with the field."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join([error.title, *map(str, first["loc"])])
        return f"{where}: {first['msg']}"
    line = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {line}".removesuffix(": ")


def reading_of(driver: Driver, output: Output) -> Reading:
    """Return what a driver reads. Raises OutputDamaged for whatever else it does."""
    try:
        reading: object = driver.read(output)
    except (BenchforgeError, OSError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # a parser of command lines exits where it complains
        raise fault(driver, "read", in_a_line(error), OutputDamaged) from error
    if not isinstance(reading, Reading):
        returned = f"it returns {type(reading).__name__}, not a Reading"
        raise fault(driver, "read", returned, OutputDamaged)
    return reading


def commands_of(driver: Driver, target: Target) -> Sequence[Command]:
    """Return the commands of a load. Raises BenchforgeError for what is none."""
    commands: Any = driver.commands(target)
    listed = isinstance(commands, list | tuple)
    if listed and commands and all(isinstance(command, Command) for command in commands):
        return list(commands)
    raise fault(driver, "commands", f"it returns {commands!r}, not a list of Command")


def warming(driver: Driver, seconds: float) -> Driver:
    """Return the load of a warm-up. Raises BenchforgeError for what is none."""
    shorter: object = driver.for_warm_up(seconds)
    if isinstance(shorter, Driver):
        return shorter
    returned = f"it returns {type(shorter).__name__}, not a {type(driver).__name__}"
    raise fault(driver, "for_warm_up", returned)


def covering(driver: Driver) -> Driver:
    """Return a driver whose load covers all slices by its own clock, where a signal ends it."""
    return driver if driver.interrupted_by is None else warming(driver, _LONGER_THAN_SLICES_S)


def blamed(error: Exception) -> BenchforgeError | None:
    """Return the error of a part's method for its user; None if the error is benchforge's own."""
    called = None
    for frame, _ in walk_tb(error.__traceback__):
        if isinstance(part := frame.f_locals.get("self"), Part):
            called = part, frame.f_code.co_name
    return None if called is None else fault(*called, in_a_line(error))
