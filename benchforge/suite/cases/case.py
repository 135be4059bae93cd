"""One point of a scenario's matrix: every part resolved, ready to be measured."""

import hashlib
import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from benchforge.model.suite.search import RateSearch
from benchforge.model.suite.tuning import Tuning
from benchforge.model.suite.turns import TurnsPlanned
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.model.values.case_name import CaseName
from benchforge.parts.fault import fault
from benchforge.parts.part import Backend, Driver, Part, Server, Service
from benchforge.suite.suite import Moments

if TYPE_CHECKING:  # few suites have a mix
    from benchforge.suite.mix.stream import Mix


class Case(NamedTuple):
    """What one trial measures. `name.digest` and `name.arm` are its identity, labels are not."""

    name: CaseName
    server: Server
    backends: tuple[tuple[str, Backend], ...]
    "Label and part, in the order in which they start."
    driver: Driver
    request: Request
    "Request with path variables filled in; of a mix, that of one of its kinds."
    expect: Expect
    metrics: tuple[str, ...]
    "Labels of the metrics that the scenario takes."
    warm_up_s: float
    tuning: Tuning
    upstreams: tuple[tuple[str, Server], ...] = ()
    "Label and part of all upstream servers, in the order of their start."
    monitor: Moments | None = None
    "Moments at which the load is monitored; None if it is not."
    find: RateSearch | None = None
    "Search of the case; None if all its trials have the same load."
    turns: TurnsPlanned | None = None
    "Turns of the servers; None if each has a load without pauses."
    hosts: Mapping[str, str] = MappingProxyType({})
    "Host of each process by its name, such as server-flask; empty on one machine."
    workload: "Mix | None" = None
    "Mix of requests; None for one request."
    blocks: int | None = None
    "Number of blocks of its scenario; None for that of the run."
    bridge: bool = False
    "True for a case that is measured in a few blocks, beside the same server in turns."

    @property
    def services(self) -> tuple[Service, ...]:
        """What is started for the driver, the server first."""
        upstreams = (upstream for _, upstream in self.upstreams)
        return (self.server, *upstreams, *(backend for _, backend in self.backends))

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that takes part in a trial, the server first."""
        return (*self.services, self.driver)

    @property
    def declared_s(self) -> float:
        """What the suite declares for one trial: warm-up and load, in seconds."""
        return self.warm_up_s + self.load_s

    @property
    def load_s(self) -> float:
        """What the suite declares for the load of one trial, in seconds."""
        return load_s(self.driver) if self.turns is None else self.turns.each_s

    @property
    def driven(self) -> str:
        """Digest of the load tool's options and of the request, whatever they are called.

        Empty for a client: there it is what is measured.
        """
        if self.driver.kind != "loader":
            return ""
        request = self.request.model_dump(mode="json", exclude={"path"})
        digested = [self.driver.name, self.driver.model_dump(mode="json"), request]
        return hashlib.sha256(json.dumps(digested, sort_keys=True).encode()).hexdigest()[:16]


def load_s(driver: Driver) -> float:
    """Return how long a driver says that its load takes, in seconds.

    Raises BenchforgeError where a plugin's driver answers nonsense.
    """
    seconds: object = driver.declared_s()
    if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise fault(driver, "declared_s", f"{seconds!r} is no number of seconds")
    return seconds
