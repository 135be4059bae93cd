"""Settings of the kernel for a trial: what a suite asks for, and what came of it."""

from pydantic import Field, PositiveInt

from benchforge.model.frozen import Frozen


class Tuning(Frozen):
    """The table [tuning]: applied inside each trial, never to the machine."""

    sysctl: dict[str, int | str] = Field(default_factory=dict)
    "Names such as net.core.somaxconn to values; those of a private network can be applied."
    limits: dict[str, PositiveInt] = Field(default_factory=dict)
    "Names such as nofile to soft and hard limits of every process of the trial."


class Tuned(Frozen):
    """What came of a tuning in one trial."""

    applied: dict[str, str]
    "What holds, as it was read back; names are those of the suite: sysctl.X, limits.Y."
    refused: dict[str, str]
    "Why the others do not hold."

    @property
    def told(self) -> str:
        """For a person: how many hold, and each name that does not, with its reason."""
        refused = [f"{name.partition('.')[2]} ({why})" for name, why in self.refused.items()]
        applied = f"{len(self.applied)} applied"
        return f"{applied}; not applied: {', '.join(refused)}" if refused else applied
