"""Settings of the kernel for a trial: what a suite asks for, and what came of it."""

from pydantic import Field, PositiveInt

from benchforge.model.values.frozen import Frozen


class Tuning(Frozen):
    """The table [tuning]. It applies inside each trial, never to the machine."""

    sysctl: dict[str, int | str] = Field(default_factory=dict)
    """Kernel settings such as net.core.somaxconn, each with its value. Only settings of a private \
network can be applied."""
    limits: dict[str, PositiveInt] = Field(default_factory=dict)
    """Resource limits such as nofile, each with the soft and hard limit of every process in the \
trial."""


class AppliedTuning(Frozen):
    """Outcome of a tuning in one trial."""

    applied: dict[str, str]
    "Settings in force, as read back, by their names in the suite: sysctl.X, limits.Y."
    refused: dict[str, str]
    "Reasons why other settings are not in force, by name."

    @property
    def in_words(self) -> str:
        """Description: the number of settings in force, and the reason for each other one."""
        refused = [f"{name.partition('.')[2]} ({why})" for name, why in self.refused.items()]
        applied = f"{len(self.applied)} applied"
        return f"{applied}; not applied: {', '.join(refused)}" if refused else applied
