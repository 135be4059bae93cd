"""What a run would measure, in which order: what `benchforge plan --format json` prints."""

from typing import Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.suite.search import RateSearch
from benchforge.model.suite.until import TurnsPlanned, Until
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import Frozen

Place = Literal["servers", "backends", "loaders", "clients"]


class DurationEstimate(Frozen):
    """Estimated duration of trials, and its components."""

    warm_up_s: NonNegativeFloat
    "Declared time of all warm-ups."
    load_s: NonNegativeFloat
    "Declared time of all loads: exact for a duration, a guess for a number of requests."
    start_and_stop_s: NonNegativeFloat
    "Guessed time of starts and stops, the same for every trial."
    noise_s: NonNegativeFloat = 0.0
    """Extra time if noise never ends: waits for quiet, and repeated attempts. It is in no total,
    and 0 for a scenario. Noise that comes and goes may add more."""

    @property
    def total_s(self) -> float:
        """Total duration on a quiet machine."""
        return self.warm_up_s + self.load_s + self.start_and_stop_s


class PartPlanned(Frozen):
    """A part of a trial."""

    place: Place
    "Path of the part's table in the suite."
    label: str
    use: str
    "Name of the part in its plugin."
    ref: str | None = None
    "Commit that a server serves, as the suite names it. A run resolves it."
    host: str | None = None
    "Label of the host that runs it; None for this machine."


class Chain(Frozen):
    """Processes that start for a server of a scenario, and the drivers that load it."""

    starts: tuple[PartPlanned, ...]
    "Parts in the order of their start: backends, upstream servers, the server."
    drivers: tuple[PartPlanned, ...]
    "Drivers, which run one after the other."


class PartLink(Frozen):
    """A relation of two parts of a scenario; a part is its table and label: `servers.django`."""

    source: str
    target: str
    relation: Literal["asks", "passes on to", "may use"]
    "Relation of the two parts. A server gets every backend of its scenario, used or not."


class ScenarioPlanned(Frozen):
    """A scenario, and what runs for it."""

    label: str
    title: str
    cases: PositiveInt
    varies: dict[str, tuple[JsonValue, ...]]
    "Values of each varied option over all points, by the option's path."
    estimate: DurationEstimate
    "Estimated duration of all trials of the scenario."
    chains: tuple[Chain, ...]
    links: tuple[PartLink, ...]
    search: RateSearch | None = None
    "Search of the scenario. The estimate then counts the largest number of its trials."
    turns: TurnsPlanned | None = None
    "Turns of the scenario's servers; None if each is loaded alone."


class CasePlanned(Frozen):
    """A case, and the declared times of each of its trials."""

    case: CaseName
    warm_up_s: NonNegativeFloat
    load_s: NonNegativeFloat


class BlockPlanned(Frozen):
    """One pass over all cases."""

    block: PositiveInt
    cases: tuple[NonNegativeInt, ...]
    "Positions in the plan's `cases`, from 0, in the order of measurement."
    seeds: tuple[NonNegativeInt, ...]
    "Values of PYTHONHASHSEED for the servers of each case."


class Plan(Frozen):
    """A plan. It starts nothing; the same seed gives the same order in a run."""

    format: Literal[2] = 2
    kind: Literal["plan"] = "plan"
    name: str
    title: str
    benchforge: str
    "Version of benchforge."
    profile: str | None
    smoke: bool
    settings: dict[str, str]
    "Values of --set, by path."
    only: tuple[str, ...]
    claims: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "Number of questions of each claim, by its label; without claims on scenarios that do not run."
    suite_sha256: str
    seed: NonNegativeInt
    seed_drawn: bool
    "True if the seed was drawn for this plan only: a run without a seed draws its own."
    blocks: PositiveInt
    "Number of blocks. With `until` the maximum, as are `trials`, `order` and all estimates."
    until: Until | None = None
    "Rule that ends the run early; None if the number of blocks is given."
    trials: NonNegativeInt
    "Number of trials; the maximum if a scenario searches for a rate."
    estimate: DurationEstimate
    scenarios: tuple[ScenarioPlanned, ...]
    cases: tuple[CasePlanned, ...]
    "Cases in the order of the suite."
    order: tuple[BlockPlanned, ...]
