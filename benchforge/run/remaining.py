"""Remaining time of a run: trials so far show what comes on top of the declared loads."""

import math
from dataclasses import dataclass

from benchforge.model.trial.trial import ATTEMPTS, Trial
from benchforge.run.machine.quiet import FIRST_LOOK_S, Patience, at_most_s
from benchforge.stats.timeseries.noise import Noise
from benchforge.suite.plan import START_AND_STOP_S


@dataclass
class Left:
    """Sums over the trials so far: starts and stops, waits, attempts."""

    trials: int = 0
    places: int = 0
    "Number of the plan's places that need no further attempt."
    set_up_s: float = 0.0
    "Time of all trials beyond their load, without waits for quiet."
    waited_s: float = 0.0
    "Time of all trials' waits for quiet."

    def add(self, trial: Trial, declared_s: float, *, last: bool) -> None:
        """Count a trial that declared so many seconds; `last` if its place needs no other."""
        waited_s = trial.phases.get("quiet", 0.0)
        took_s = trial.seconds / (1 if trial.turns is None else len(trial.turns.trials))
        self.trials += 1
        self.places += last
        self.waited_s += waited_s
        self.set_up_s += max(0.0, took_s - waited_s - declared_s)

    @property
    def start_and_stop_s(self) -> float:
        """Of one trial: a guess before the first."""
        return self.set_up_s / self.trials if self.trials else START_AND_STOP_S

    def once_s(self, declared_s: float, noise: Noise) -> float:
        """Return the seconds of one attempt whose load is declared."""
        # Attempts at the first place say nothing yet: after them the noise ended, or nothing waits.
        wait_s = self.waited_s / self.trials if noise.waits and self.places else FIRST_LOOK_S
        return declared_s + wait_s + self.start_and_stop_s

    def of(self, places: int, declared_s: float, noise: Noise) -> float:
        """Return the seconds of further places, whose loads are declared in all."""
        attempts = max(1.0, self.trials / self.places) if noise.repeats and self.places else 1.0
        return attempts * (declared_s + places * self.once_s(0.0, noise))


def noise_s(declared_s: float, patience: Patience, *, smoke: bool) -> float:
    """Return what lasting noise adds to a run whose trials declare so many seconds each.

    All attempts at the first place wait in vain.
    """
    wait_s = at_most_s(patience, declared_s, math.inf) or 0.0
    again = 0 if smoke else ATTEMPTS - 1
    return ATTEMPTS * wait_s + again * (declared_s + START_AND_STOP_S)
