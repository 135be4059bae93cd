"""The null server as a part: what a load tool is measured against, and by which load."""

from pathlib import Path
from typing import ClassVar

from pydantic import NonNegativeInt, PositiveInt

from benchforge.model.values.units import Rate
from benchforge.parts.command import Command
from benchforge.parts.part import Driver, Server
from benchforge.parts.site import Site
from benchforge.run.ceiling import null_program

LABEL, LOAD_S = "null", 2.0


class NullServer(Server):
    """Answers every request with the same bytes, as fast as Python can; no suite can name it."""

    name: ClassVar[str] = "null"

    body_bytes: NonNegativeInt
    "Length of each answer's body."
    processes: PositiveInt = 1
    "Number of processes. Each takes connections of its own."

    def command(self, site: Site) -> Command:
        """Return the program, without what this environment adds to Python."""
        return Command(
            *(site.python, "-I", "-S", Path(null_program.__file__)),
            *("--address", site.address, "--port", site.port),
            *("--bytes", self.body_bytes, "--processes", self.processes),
        )

    def workers_told(self) -> int:
        """Return the number of its processes."""
        return self.processes


def processes_for(tool: int | None, cpus: int) -> int:
    """Return the number of processes for a tool of so many threads, on so many CPUs.

    A request costs the null server about as much CPU as it costs wrk.
    """
    return max(1, min(tool or 1, cpus))


def load_of(driver: Driver, index: int = 0, places: int = 1) -> Driver:
    """Return a driver for a ceiling: brief, and at twice its rate, if it has one.

    `index` is that of a load tool among those that divide the load, `places` their number.
    """
    share = (driver.divided(index, places) if places > 1 else None) or driver
    rate = getattr(share, "rate", None)
    twice = share if rate is None else share.model_copy(update={"rate": Rate(2 * rate)})
    return twice.for_warm_up(LOAD_S)
