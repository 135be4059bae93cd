"""What a run would measure, in which order: what `benchforge plan --format json` prints."""

from typing import Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.suite.search import RateSearch
from benchforge.model.suite.until import Until
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import Frozen

Place = Literal["servers", "backends", "loaders", "clients"]


class DurationEstimate(Frozen):
    """How long trials take, and what that is made of."""

    warm_up_s: NonNegativeFloat
    "As the suite declares it."
    load_s: NonNegativeFloat
    "As the drivers declare it: exact for a duration, a guess for a number of requests."
    start_and_stop_s: NonNegativeFloat
    "A guess: the same for every trial."
    noise_s: NonNegativeFloat = 0.0
    """What noise that does not end adds: waits for quiet, and repeated attempts. What comes and
    goes may add more. It is in no total; of a scenario it is 0."""

    @property
    def total_s(self) -> float:
        """All of it, on a quiet machine."""
        return self.warm_up_s + self.load_s + self.start_and_stop_s


class PartPlanned(Frozen):
    """A part that takes part in a trial."""

    place: Place
    "Its table in the suite."
    label: str
    use: str
    "The plugin's name for it."
    ref: str | None = None
    "The commit that a server serves, as the suite names it, looked up when it is run."


class Chain(Frozen):
    """What is started for a server of a scenario, and who asks it."""

    starts: tuple[PartPlanned, ...]
    "In this order: backends, what the server stands before, the server."
    drivers: tuple[PartPlanned, ...]
    "One of them at a time."


class PartLink(Frozen):
    """A relation of two parts of a scenario; a part is its table and label: `servers.django`."""

    source: str
    target: str
    relation: Literal["asks", "passes on to", "may use"]
    "A server is given every backend of its scenario; whether it uses one is its own affair."


class ScenarioPlanned(Frozen):
    """A scenario, and what runs for it."""

    label: str
    title: str
    cases: PositiveInt
    varies: dict[str, tuple[JsonValue, ...]]
    "Paths of options to their values, of all points together."
    estimate: DurationEstimate
    "Of all its trials."
    chains: tuple[Chain, ...]
    links: tuple[PartLink, ...]
    search: RateSearch | None = None
    "What it searches for: then the estimate is of as many trials as that may take."


class CasePlanned(Frozen):
    """A case, and what the suite declares for each of its trials."""

    case: CaseName
    warm_up_s: NonNegativeFloat
    load_s: NonNegativeFloat


class BlockPlanned(Frozen):
    """One pass over all cases."""

    block: PositiveInt
    cases: tuple[NonNegativeInt, ...]
    "Places in `cases` of the plan, from 0, in the order in which they are measured."
    seeds: tuple[NonNegativeInt, ...]
    "PYTHONHASHSEED of the servers of each."


class Plan(Frozen):
    """A plan. Nothing of it was started; the same seed gives the same order in a run."""

    format: Literal[2] = 2
    kind: Literal["plan"] = "plan"
    name: str
    title: str
    benchforge: str
    "Version."
    profile: str | None
    smoke: bool
    settings: dict[str, str]
    "What was given by --set."
    only: tuple[str, ...]
    claims: dict[str, NonNegativeInt] = Field(default_factory=dict)
    "By label how many questions a claim asks; none where its scenarios are not to be run."
    suite_sha256: str
    seed: NonNegativeInt
    seed_drawn: bool
    "Whether the seed was drawn for this plan, since none was given: a run draws its own."
    blocks: PositiveInt
    "With `until` the most; so are `trials`, all that is estimated, and `order`."
    until: Until | None = None
    "What ends the run before; None where the number of blocks is given."
    trials: NonNegativeInt
    "At most, where a scenario searches for a rate."
    estimate: DurationEstimate
    scenarios: tuple[ScenarioPlanned, ...]
    cases: tuple[CasePlanned, ...]
    "In the order of the suite."
    order: tuple[BlockPlanned, ...]
