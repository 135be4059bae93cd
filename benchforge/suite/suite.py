"""What a suite says, once it is read: nothing in it is text to be understood any more."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.answer import Expect, Request
from benchforge.model.claim import Claim
from benchforge.model.code import Code
from benchforge.model.frozen import Frozen
from benchforge.model.pivot import Pivot
from benchforge.model.placement import Placement
from benchforge.model.runtime import Runtime
from benchforge.model.tuning import Tuning
from benchforge.model.units import Duration
from benchforge.parts.part import Metric, Part
from benchforge.suite.document import Document


class Repeat(Frozen):
    """The table [repeat]."""

    blocks: PositiveInt = 5
    "How often each case is measured."
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
