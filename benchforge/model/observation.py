"""What was seen from outside while something was measured."""

from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from benchforge.model.frozen import Frozen

Role = Literal["server", "upstream", "backend", "loader"]


class Usage(Frozen):
    """What one part used between the start and the end of the load; None where it is not known."""

    label: str
    "Of the part in the suite."
    role: Role
    "What it was in this trial."
    cpu_s: NonNegativeFloat | None
    "User and system time of all its processes, ended children included."
    peak_pss_bytes: NonNegativeInt | None
    "The largest sum of proportional set sizes that was seen."
    pss_samples: NonNegativeInt = 0
    "How often its memory was read."
    processes: NonNegativeInt | None = None
    "How many it had when the load ended."
    why: str = ""
    "Why something is not known."


class Observation(Frozen):
    """One load, seen from outside."""

    seconds: NonNegativeFloat
    "From the start of the tool to its end: its own set-up and reports included."
    usage: tuple[Usage, ...]
    "By part."
    network: Literal["private", "host"]
    "Whether the trial had a network of its own."
    counters: dict[str, int]
    "How much each counter of the network grew; of the whole machine where network is host."
    foreign_connections: str = ""
    "Why the counters hold connections of others than the driver; empty when they hold none."
    sampler_cpu_s: NonNegativeFloat
    "CPU time of benchforge itself meanwhile."
