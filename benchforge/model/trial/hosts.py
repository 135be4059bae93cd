"""The machines of a trial: what each ran, and what was seen on it during the load."""

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt

from benchforge.model.trial.observation import Observation
from benchforge.model.trial.reading import Reading
from benchforge.model.values.frozen import Frozen


class HostLink(Frozen):
    """Network between two hosts, measured before the first trial, and before each one's load."""

    bytes_per_s: NonNegativeFloat
    "Bytes per second that one TCP connection sent from this host to the other."
    round_trip_s: NonNegativeFloat
    "Median time of a round trip of one byte."


class HostFacts(Frozen):
    """A machine of a result that ran parts of its trials."""

    address: str
    "Address at which the other hosts reach it."
    labels: tuple[str, ...] = ()
    "Words that the suite gives the host."
    code: str
    "Digest of the code of benchforge on the host."
    facts: dict[str, JsonValue] = Field(default_factory=dict)
    "Facts about the machine."
    links: dict[str, HostLink] = Field(default_factory=dict)
    "Networks to other hosts, by the host's label."


class TrialHost(Frozen):
    """A machine that ran parts of a trial."""

    address: str
    "Address at which the other hosts reach it."
    parts: tuple[str, ...]
    "Names of its processes, such as server-flask."
    namespaces: dict[str, JsonValue] = Field(default_factory=dict)
    "Namespaces that the trial really had on the host, and which isolation was weaker."
    clock_offset_s: float | None = None
    "Monotonic clock of the host less that of benchforge's machine, before the load."
    clock_bound_s: NonNegativeFloat | None = None
    "Bound of the offset: half of the quickest round trip."
    clock_moved_s: float | None = None
    "Change of the offset from before the load to after it."
    received_bytes: NonNegativeInt | None = None
    "Bytes that came in over the network interface of its address during the load."
    sent_bytes: NonNegativeInt | None = None
    "Bytes that went out over the network interface of its address during the load."
    dropped: NonNegativeInt | None = None
    "Packets that this interface dropped during the load."
    links: dict[str, HostLink] = Field(default_factory=dict)
    "Networks to other hosts of the trial just before the load, by the host's label."
    links_at_first: dict[str, HostLink] = Field(default_factory=dict)
    "The same networks before the first trial since benchforge connected the hosts."
    started_s: float | None = None
    "Start of its load tool after that of the first one; None without several load tools."
    reading: Reading | None = None
    "Result of its load tool; None without several load tools."
    observation: Observation | None = None
    "Observations on the host; None without a measurement."
