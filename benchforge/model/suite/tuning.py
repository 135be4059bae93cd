"""Settings of the kernel for a trial: what a suite asks for, and what came of it."""

from pydantic import Field, PositiveInt

from benchforge.model.values.frozen import Frozen


class Tuning(Frozen):
    """The table [tuning]: applied inside each trial, never to the machine."""

    sysctl: dict[str, int | str] = Field(default_factory=dict)
    """Kernel settings such as net.core.somaxconn, each with its value. Only settings of a private \
network can be applied."""
    limits: dict[str, PositiveInt] = Field(default_factory=dict)
    """Resource limits such as nofile, each with the soft and hard limit of every process in the \
trial."""


class AppliedTuning(Frozen):
    """What came of a tuning in one trial."""

    applied: dict[str, str]
    "What holds, as it was read back; names are those of the suite: sysctl.X, limits.Y."
    refused: dict[str, str]
    "Why the others do not hold."

    @property
    def in_words(self) -> str:
        """For a person: how many hold, and each name that does not, with its reason."""
        refused = [f"{name.partition('.')[2]} ({why})" for name, why in self.refused.items()]
        applied = f"{len(self.applied)} applied"
        return f"{applied}; not applied: {', '.join(refused)}" if refused else applied
