"""Noise that does not end: after three spoilt trials in a row, no trial waits or is repeated.

All of it follows from the trials in their order, so that a killed run goes on as if it had not
been killed, and `verify` computes the same.
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from benchforge.model.trial.trial import ATTEMPTS, Trial

MOST = ATTEMPTS
"So many trials in a row that noise spoilt: all attempts of one place, each after its wait."


class Noise(NamedTuple):
    """Numbers of trials in a row that noise met, up to a trial."""

    spoilt: int = 0
    "Number of trials that noise alone kept from being believed."
    in_vain: int = 0
    "Number of trials before which the machine did not become quiet."

    @property
    def repeats(self) -> bool:
        """Whether a trial is repeated for noise: it may go."""
        return self.spoilt < MOST

    @property
    def waits(self) -> bool:
        """Whether trials wait for quiet, instead of one look."""
        return self.in_vain < MOST

    def after(self, trial: Trial) -> "Noise":
        """Return the numbers after one more trial: measured ones count, and those with a look."""
        spoilt, in_vain = self
        if trial.measured:
            spoilt = spoilt + 1 if trial.noisy else 0
        if looks := [check.status for check in trial.checks if check.topic == "quiet"]:
            in_vain = in_vain + 1 if "warn" in looks else 0
        return Noise(spoilt, in_vain)

    def ends(self, last: Trial) -> bool:
        """Whether a trial is not repeated: nothing but noise asks for it, and that does not end."""
        only_noise = all(doubt.of_noise for doubt in last.doubts if doubt.transient)
        return not self.repeats and last.noisy and only_noise


def noise_of(trials: Sequence[Trial]) -> Noise:
    """Return the noise up to the last of some trials."""
    ordered = sorted(trials, key=lambda trial: trial.number)
    return reduce(Noise.after, ordered, Noise())
