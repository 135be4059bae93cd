"""How the cases of a scenario take turns, as the suite says."""

from typing import Literal

from pydantic import PositiveFloat

from benchforge.model.values.case_name import CaseName, clients_of, comparison
from benchforge.model.values.frozen import Frozen

SHORTEST_S, LONGEST_S = 0.02, 1.0
"Bounds of a slice, in seconds. In a longer one the noise changes, and nothing is gained."
LONGEST_FREEZE_S = 1.0
"""Longest time in which a server stands still, in seconds: half of the shortest time after which a
common server closes an idle connection (gunicorn, 2 s)."""


class TurnsPlanned(Frozen):
    """Turns of the cases of a scenario."""

    slice_s: PositiveFloat
    "Length of a slice. A trial doubles it where a slice would have too few requests."
    each_s: PositiveFloat
    "Length of the load of each server in a block, over all of its slices."

    among: Literal["servers", "clients", "cases"] = "servers"
    """Parts that take turns: the servers under one load tool, the clients of one server, or all
    cases of the scenario."""

    def group(self, case: CaseName) -> str:
        """Return a key of the cases that take turns with one another."""
        if self.among == "cases":
            return case.scenario
        return comparison(case) if self.among == "servers" else clients_of(case)


def longest_freeze_s(servers: int, slice_s: float) -> float:
    """Return the longest time between two slices of a server, in seconds, without drains.

    A server may be the first in a round and the last in the next.
    """
    return 2 * (servers - 1) * slice_s
