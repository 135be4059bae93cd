"""The end of a reading: what it returns, or all of its faults together."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from benchforge.suite.secrets.redact import hiding
from benchforge.suite.toml.document import Document, Setting
from benchforge.suite.toml.faults import SHOWN, Checked, Fault, SuiteErrors, SuiteFault
from benchforge.suite.toml.located import located
from benchforge.suite.toml.positions import Path, Spot

T = TypeVar("T")

_Order = tuple[int, ...]
"What is in the file by line and column, then --set, then other options of the command line."


def sound(reading: Checked[T], document: Document, environment: Iterable[str] = ()) -> T:
    """Return what a reading returns.

    Raises SuiteErrors when it yields a fault: with all of them, in the order of the file, without
    secrets. `environment` is what was taken from there by the end of the reading.
    """
    value, faults = _gathered(reading)
    if faults:
        ordered = _in_order(faults, document, hiding(document.tables, environment))
        raise SuiteErrors(ordered)
    return value


def _gathered(reading: Checked[T]) -> tuple[T, list[Fault]]:
    faults: list[Fault] = []
    while True:
        try:
            faults.append(next(reading))
        except StopIteration as end:
            return end.value, faults


def _in_order(
    faults: Iterable[Fault], document: Document, hide: Callable[[str], str]
) -> list[SuiteFault]:
    """Return faults as they are printed; those that are not have no excerpt."""
    ordered = sorted(_distinct(faults, document).items(), key=lambda pair: pair[0][0])
    return [_written_out(fault, document, hide) for _, fault in ordered[:SHOWN]] + [
        SuiteFault(":".join([document.shown, *map(str, order[1:])]), fault.message)
        for (order, _, _), fault in ordered[SHOWN:]
    ]


def _distinct(
    faults: Iterable[Fault], document: Document
) -> dict[tuple[_Order, Path | str, str], Fault]:
    """Return each fault once; a value that was written for several labels is wrong once."""
    distinct: dict[tuple[_Order, Path | str, str], Fault] = {}
    faulty: set[Path] = set()
    for fault in faults:
        if fault.option:
            distinct.setdefault(((2,), fault.option, fault.message), fault)
        elif not (fault.of_model and fault.path in faulty):
            faulty.add(fault.path)
            place = document.written(fault.path)
            distinct.setdefault((_order(document, fault.path), place, fault.message), fault)
    return distinct


def _order(document: Document, path: Path) -> _Order:
    match document.origin(path):
        case Spot() as spot:
            return (0, spot.line, spot.column)
        case Setting():
            return (1,)
        case None:
            return (0,)


def _written_out(fault: Fault, document: Document, hide: Callable[[str], str]) -> SuiteFault:
    if fault.option:
        return SuiteFault(fault.option, fault.message, hint=fault.hint)
    return located(document, fault.path, fault.message, fault.hint, hide=hide)
