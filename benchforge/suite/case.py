"""One point of a scenario's matrix: every part resolved, ready to be measured."""

from dataclasses import dataclass

from benchforge.model.answer import Expect, Request
from benchforge.model.trial import CaseName
from benchforge.parts.part import Backend, Driver, Part, Server


@dataclass(frozen=True)
class Case:
    """What one trial measures. `name.digest` and `name.arm` are its identity, labels are not."""

    name: CaseName
    server: Server
    backends: tuple[tuple[str, Backend], ...]
    "Label and part, in the order in which they start."
    driver: Driver
    request: Request
    "With path variables filled in."
    expect: Expect
    metrics: tuple[str, ...]
    "Labels of the metrics that the scenario takes."
    warm_up_s: float

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that runs in one trial."""
        return (self.server, self.driver, *(backend for _, backend in self.backends))

    @property
    def declared_s(self) -> float:
        """What the suite declares for one trial: warm-up and load, in seconds."""
        return self.warm_up_s + self.driver.declared_s()
