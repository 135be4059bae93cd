"""What a suite says, once it is read: nothing in it is text to be understood any more."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

from benchforge.model.amount import LEAST_BLOCKS, MOST_BLOCKS, Until
from benchforge.model.answer import Expect, Request
from benchforge.model.claim import Claim
from benchforge.model.code import Code
from benchforge.model.frozen import Frozen
from benchforge.model.pivot import Pivot
from benchforge.model.placement import Placement
from benchforge.model.runtime import Runtime
from benchforge.model.tuning import Tuning
from benchforge.model.units import Duration, Rate, Share
from benchforge.parts.part import Metric, Part
from benchforge.parts.wrong import WrongOption
from benchforge.suite.document import Document

_MOST = 1_000_000  # of blocks: together with a million cases still a number that is counted with
_Blocks = Annotated[PositiveInt, Field(le=_MOST)]


class Repeat(Frozen):
    """The table [repeat]."""

    blocks: _Blocks = 5
    "How often each case is measured; a scenario with `find` says itself how often."
    until: Share | None = None
    """In place of `blocks`: blocks are added until each interval of 95 % reaches no further than \
this to either side of its ratio. Whether it shows a difference is never looked at."""
    between: tuple[_Blocks, ...] = (LEAST_BLOCKS, MOST_BLOCKS)
    "With `until`: the fewest blocks, 8 or more, and the most."
    seed: NonNegativeInt | None = None
    "Of the order; a new one is drawn and recorded without it."
    warmup: Duration = Duration(0)
    "A load of this length before each measured one, thrown away."
    placebo: bool = False
    """Whether each scenario measures its first case twice, as if it were two: by what those two \
differ, this machine cannot tell others apart. It stands in no table."""
    quiet: Duration | Literal["off"] | None = None
    "How long to wait before each trial, at most, until nothing else uses the CPUs; without it as \
long as the trial's load, up to 30s, and in a smoke not at all."

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        given, wrong, of_both = self.model_fields_set, ("between", "until"), ("until", "blocks")
        if self.until is None:
            if "between" in given:
                hint = 'give until = "3%" too, or blocks alone'
                raise WrongOption("there is nothing to wait for", *wrong, hint=hint)
            return self
        if "blocks" in given:
            hint = "keep `blocks` where you know how many, and `until` where you know how closely"
            raise WrongOption("stands beside `blocks`, which says how many", *of_both, hint=hint)
        if len(self.between) != len(("least", "most")) or self.between[0] > self.between[1]:
            raise WrongOption("not the fewest and the most blocks", *wrong, hint="as [8, 30]")
        if self.between[0] < LEAST_BLOCKS:
            hint = "who looks earlier gets intervals that hold the truth too seldom"
            message = f"the fewest blocks are {LEAST_BLOCKS} or more"
            raise WrongOption(message, *wrong, hint=hint)
        return self

    @property
    def amount(self) -> Until | None:
        """What ends a run; None where the number of blocks is given."""
        if self.until is None:
            return None
        least, most = self.between
        return Until(width=float(self.until), least=least, most=most)


def _two(rates: tuple[Rate, ...]) -> tuple[Rate, ...]:
    if len(rates) != 2:  # noqa: PLR2004
        msg = 'expected the lowest rate and the highest, such as [100, "20k"]'
        raise ValueError(msg)
    return rates


class Wanted(Frozen):
    """The key `find` of a scenario: the highest rate at which a server keeps to something."""

    rate: Annotated[tuple[Rate, ...], AfterValidator(_two)] = Field(
        json_schema_extra={"minItems": 2, "maxItems": 2}
    )
    "The lowest rate that is tried, and the highest."
    slo: str | tuple[str, ...]
    """What is to be kept, or several: `METRIC PART < BOUND`. That 99 % of the requests are \
answered, and fewer than 0.1 % end badly, is asked for too."""
    steps: _Blocks = 20
    "Trials around the rate, once it is known to 6 %."

    @property
    def objectives(self) -> tuple[str, ...]:
        """All that is to be kept."""
        return (self.slo,) if isinstance(self.slo, str) else self.slo


class Scenario(Frozen):
    """A table [scenarios.x]."""

    title: str = ""
    "Shown in place of the label."
    request: Request = Request()
    "What is asked."
    requests: dict[str, Request] = Field(default_factory=dict)
    "Per server, in place of `request`."
    servers: tuple[str, ...] = Field(min_length=1)
    "Labels of those that are compared."
    loaders: tuple[str, ...] = ()
    "Labels of the load tools, each of which makes the requests once."
    clients: tuple[str, ...] = ()
    "Labels of the HTTP libraries, each of which makes the requests once."
    backends: tuple[str, ...] = ()
    "Labels of what the servers depend on: started before each of them."
    expect: Expect = Expect()
    "What a right answer looks like."
    metrics: tuple[str, ...] | None = None
    "Labels; all declared ones without it."
    vary: dict[str, list[JsonValue]] = Field(default_factory=dict)
    "Option paths, such as servers.*.workers or path.size, to the values that they take."
    include: list[dict[str, JsonValue]] = Field(default_factory=list)
    "Further points: tables of paths to one value each."
    exclude: list[dict[str, JsonValue]] = Field(default_factory=list)
    "Combinations that are left out: tables of paths to one value each."
    find: Wanted | None = None
    "In place of measuring each case at one load: the highest rate that it keeps up with."


@dataclass(frozen=True)
class Declared:
    """A part as the suite declares it: its options as written, and the part that they make."""

    label: str
    cls: type[Part]
    options: Mapping[str, JsonValue]
    part: Part


@dataclass(frozen=True)
class Suite:
    """A suite with one profile and all --set applied, every name in it resolved."""

    path: Path
    text: str
    "As written."
    document: Document
    "With profile and settings applied: where each value was written."
    name: str
    title: str
    profile: str | None
    smoke: bool
    network: Literal["private", "host"]
    servers: Mapping[str, Declared]
    backends: Mapping[str, Declared]
    loaders: Mapping[str, Declared]
    clients: Mapping[str, Declared]
    runtimes: Mapping[str, Runtime]
    metrics: Mapping[str, Metric]
    "By label, in the order of the report; a standard set where the suite declares none."
    scenarios: Mapping[str, Scenario]
    "Those that are to be run (`only`)."
    only: tuple[str, ...]
    repeat: Repeat
    tuning: Tuning
    placement: Placement | Literal["auto", "off"]
    tables: Mapping[str, Pivot]
    "Those that are drawn of its cases, by label."
    settings: Mapping[str, str]
    "What was given by --set."
    code: tuple[Code, ...] = ()
    "Of its servers, where git was asked; a `ref` alone may lead elsewhere later."
    claims: tuple[Claim, ...] = ()
    "All that are declared, also of scenarios that are not to be run; cases by name alone."
    secrets: frozenset[str] = frozenset()
    "What `redact` takes out of every text that is written: from the environment, and literal."

    @property
    def asked(self) -> tuple[Claim, ...]:
        """The claims all of whose scenarios are to be run."""
        return tuple(
            claim
            for claim in self.claims
            if all(case.scenario in self.scenarios for case in claim.cases)
        )
