"""What tells the cases of a scenario apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchforge.plugin import CaseSummary


@dataclass(frozen=True)
class Labels:
    """Heads, and for each case the words below them."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def case_labels(cases: Sequence[CaseSummary]) -> Labels:
    """Return the server, the driver where there are several, and what varies."""
    paths = tuple(dict.fromkeys(path for one in cases for path in one.case.vary))
    drivers = len({one.case.driver for one in cases}) > 1
    return Labels(
        ("server", *(("driver",) if drivers else ()), *short(paths)),
        tuple(
            (
                case.server,
                *((case.driver,) if drivers else ()),
                *(str(case.vary.get(path, "")) for path in paths),
            )
            for case in (one.case for one in cases)
        ),
    )


def short(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the last name of each path, or all of it where several end alike."""
    last = [path.rpartition(".")[2] for path in paths]
    return tuple(
        name if last.count(name) == 1 else path for path, name in zip(paths, last, strict=True)
    )
