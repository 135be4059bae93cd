"""A suite after reading: typed values, and no text left to interpret."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, NonNegativeInt, PrivateAttr, model_validator

from benchforge.model.suite.claim import Claim, Gate, VerdictRules
from benchforge.model.suite.code import Code, Runtime
from benchforge.model.suite.pivot import Pivot
from benchforge.model.suite.placement import EngineTable, HostsByRole, HostTable, Placement, Tuning
from benchforge.model.suite.until import DECIDED_AFTER, LEAST_BLOCKS, MOST_BLOCKS, Until
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.model.values.case_name import Role
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.units import Duration, Rate, Share
from benchforge.parts.fillable import WrongOption
from benchforge.parts.part import Metric, Part
from benchforge.suite.toml.document import Document
from benchforge.suite.toml.positions import Path as Place

if TYPE_CHECKING:  # few suites have a mix
    from benchforge.suite.mix.stream import Mix

MONITORED_PER_S = 20.0
"Moments per second at which a load is monitored, at most, where the suite does not say."
SAFE = ("GET", "HEAD", "OPTIONS")
"The methods whose requests change nothing (RFC 9110, 9.2.1)."
_MOST = 1_000_000  # of blocks: together with a million cases still a number that is counted with
_Blocks = Annotated[int, Field(gt=0, le=_MOST)]


class Repeat(Frozen):
    """The table [repeat]."""

    blocks: _Blocks = 5
    "Number of measurements of each case. A scenario with `find` sets its own."
    until: Share | None = None
    """Target precision, instead of `blocks`. benchforge adds blocks until every 95 % interval \
reaches no further than this to either side of its ratio. With claims it asks another question: \
the run ends once each claim is decided, by intervals that hold at all looks together."""
    between: tuple[_Blocks, ...] | None = None
    """Minimum and maximum number of blocks with `until`: [4, 30] by default, [3, 30] with claims. \
The minimum is 3 or more."""
    level: Share = Share(0.95)
    "Level of the intervals that end a run with `until`: all of its claims share one error."
    seed: NonNegativeInt | None = None
    "Seed of the measurement order. If omitted, a random seed is drawn and recorded in the result."
    warmup: Duration = Duration(0)
    "Length of an unmeasured load before each measured load."
    placebo: bool = False
    """A second measurement of the first case of each scenario under another name. The difference \
between the two is noise: the machine cannot show a smaller difference. The placebo is in no \
table."""
    interleave: Duration | Literal["off"] = "off"
    """Length of a slice, such as "100ms", if servers take turns: in each block the servers of a \
comparison, or the clients of a server, run at once, each frozen except in its own slices. Only \
ratios are then valid. Each scenario may override it."""
    each: Duration = Duration(2)
    """Length of the load of each server in each block with `interleave`, instead of the length \
or the number of requests of the load tool or client."""
    bridge: int = Field(default=0, ge=0, le=_MOST)
    """Number of first blocks in which servers that take turns are also measured one after the \
other, by a further scenario LABEL-alone. Where the ratios differ, claims are invalid. Response \
times, memory and errors come from these blocks. 3 at least; 0 for none."""
    quiet: Duration | Literal["off"] | None = None
    """Maximum time to wait before each trial while other processes use the CPUs. Default: the \
length of the trial's load, at most 30s; no waiting in a smoke run."""

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        keys, wrong, of_both = (self.model_fields_set, ("between", "until"), ("until", "blocks"))
        if self.until is None:
            for key in {"between", "level"} & keys:
                hint = 'give until = "3%" too, or blocks alone'
                raise WrongOption("it needs `until`", key, "until", hint=hint)
            return self
        if "blocks" in keys:
            hint = "keep `blocks` to fix the number of blocks, or `until` to fix the precision"
            raise WrongOption("cannot be combined with `blocks`", *of_both, hint=hint)
        least, *most = self.between or (LEAST_BLOCKS, MOST_BLOCKS)
        if len(most) != 1 or least > most[0]:
            message = "expected the minimum and maximum number of blocks"
            raise WrongOption(message, *wrong, hint="such as [8, 30]")
        if least < DECIDED_AFTER:
            hint = "with fewer blocks, an interval says nothing"
            raise WrongOption(f"the fewest blocks are {DECIDED_AFTER} or more", *wrong, hint=hint)
        return self

    def amount(self, *, decides: bool = False) -> Until | None:
        """Return what ends a run, of which claims ask where it `decides`; None for `blocks`."""
        if self.until is None:
            return None
        least, most = self.between or (DECIDED_AFTER if decides else LEAST_BLOCKS, MOST_BLOCKS)
        method: Literal["width", "decision"] = "decision" if decides else "width"
        level = float(self.level)
        return Until(width=float(self.until), least=least, most=most, method=method, level=level)


def _two(rates: tuple[Rate, ...]) -> tuple[Rate, ...]:
    if len(rates) != 2:  # noqa: PLR2004
        raise ValueError('expected the lowest rate and the highest, such as [100, "20k"]')
    return rates


class Wanted(Frozen):
    """The key `find` of a scenario: the highest rate at which a server keeps to something."""

    rate: Annotated[tuple[Rate, ...], AfterValidator(_two)] = Field(
        json_schema_extra={"minItems": 2, "maxItems": 2}
    )
    "Lowest and highest rate to try."
    slo: str | tuple[str, ...]
    """One or more objectives: `METRIC PART < BOUND`. Two more always apply: at least 99 % of the \
requests are answered, and less than 0.1 % of them fail."""
    steps: _Blocks = 20
    "Number of trials around the rate, after the search has found it to within 6 %."

    @property
    def objectives(self) -> tuple[str, ...]:
        """All that is to be kept."""
        return (self.slo,) if isinstance(self.slo, str) else self.slo


@dataclass(frozen=True)
class Moments:
    """Random moments of a load: how many per second, at most or `exact`."""

    per_s: float
    exact: bool


class Scenario(Frozen):
    """A table [scenarios.x]."""

    title: str = ""
    "Title in reports. Default: the label."
    request: Request = Request()
    "Request that the load tools send."
    requests: dict[str, Request] = Field(default_factory=dict)
    "Requests by server, instead of `request`."
    kinds: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    "Several kinds of requests by label, instead of `request`, each with its share."
    session: dict[str, JsonValue] | None = None
    "Login of users before each load, for the requests of kinds."
    servers: tuple[str, ...] = Field(min_length=1)
    "Labels of the servers to compare."
    loaders: tuple[str, ...] = ()
    "Labels of the load tools. Each measures all servers."
    clients: tuple[str, ...] = ()
    "Labels of the HTTP clients. Each measures all servers."
    backends: tuple[str, ...] = ()
    "Labels of the backends. They start before each server."
    expect: Expect = Expect()
    "Definition of a right answer."
    expects: dict[str, Expect] = Field(default_factory=dict)
    "Definitions of a right answer by server, instead of `expect`."
    metrics: tuple[str, ...] | None = None
    "Labels of the metrics. Default: all declared metrics."
    vary: dict[str, list[JsonValue]] = Field(default_factory=dict)
    "Paths of options, such as servers.*.workers or path.size, each with its values."
    include: list[dict[str, JsonValue]] = Field(default_factory=list)
    "Additional points: tables of paths, each with one value."
    exclude: list[dict[str, JsonValue]] = Field(default_factory=list)
    "Combinations to leave out: tables of paths, each with one value."
    monitor: Rate | Literal["off", False] | None = None
    """Number of random moments per second of a load at which benchforge sends the request and \
checks the answer; `"off"` or `false` for none. Default: none where benchforge reads the load's \
own answers on the network. Elsewhere, such as over TLS, HTTP/2 or on several hosts: for GET, HEAD \
and OPTIONS, which change no data, and for mixes up to 20/s, with at most 0.2 % of the load's \
requests, but a few in each load; for other methods off."""
    interleave: Duration | Literal["off"] | None = None
    'Length of a slice if servers or clients take turns, or "off". Default: that of [repeat].'
    each: Duration | None = None
    "Length of the load of each server in each block in turns. Default: that of [repeat]."
    turns: Literal["compared", "all"] = "compared"
    """Cases that take turns with `interleave`: the compared ones, which are the servers under one \
load tool or the clients of one server, or all cases of the scenario. With `"all"`, claims may \
compare load tools and values of `vary`."""
    blocks: _Blocks | None = None
    "Number of measurements of each case, instead of that of [repeat]."
    latency_of: str | None = None
    """Label of a scenario with the same servers. This one measures their response times, at the \
rate of its load tool, one server at a time, in the first `blocks` of the run. `repeat.until` does \
not wait for it, and its checks decide nothing else."""
    find: Wanted | None = None
    "Search for the highest rate that a server sustains, instead of one load per case."

    _stage_counts: dict[str, int] = PrivateAttr(default_factory=dict)

    @property
    def stage_counts(self) -> Mapping[str, int]:
        """Number of stages of each load tool whose rate changes by plan, by label."""
        return self._stage_counts

    def with_stages(self, counts: Mapping[str, int]) -> Self:
        """Return the scenario with the numbers of stages of load tools, by label."""
        copy = self.model_copy()
        copy._stage_counts = {k: counts[k] for k in self.loaders if counts.get(k)}  # noqa: SLF001
        return copy

    @model_validator(mode="after")
    def _can_be_answered(self) -> Self:
        for server in self.servers:
            method = self.requests.get(server, self.request).method
            if reason := self.right(server).conflict({method}):
                key = "expects" if server in self.expects else "expect"
                reason = f"{server!r}: {reason}" if key == "expects" else reason
                raise WrongOption(reason, key, "request", "requests", "servers")
        return self

    def right(self, server: str) -> Expect:
        """Return what a right answer of a server is."""
        return self.expects.get(server, self.expect)

    @property
    def kind_labels(self) -> tuple[str, ...]:
        """Labels of its kinds; of a flow those of its steps, such as `buy.pay`."""
        labels: list[str] = []
        for label, kind in self.kinds.items():
            steps = kind.get("steps")
            tables = [it for it in steps if isinstance(it, dict)] if isinstance(steps, list) else []
            labels += [f"{label}.{step['name']}" for step in tables if "name" in step] or [label]
        return tuple(labels)

    def monitored(self, request: Request) -> Moments | None:
        """Return at which moments a load with this request is monitored; None where it is not."""
        if self.monitor is None:
            by_default = self.kinds or request.method in SAFE
            return Moments(MONITORED_PER_S, exact=False) if by_default else None
        if not isinstance(self.monitor, Rate) or not self.monitor:
            return None
        return Moments(float(self.monitor), exact=True)

    def varied_paths(self) -> Iterator[tuple[Place, str]]:
        """Yield each path of an option that varies, after its place in the table."""
        for path in self.vary:
            yield ("vary", path), path
        for number, point in enumerate(self.include):
            for path in point:
                yield ("include", number, path), path

    def varied_values(self) -> Iterator[tuple[Place, str, JsonValue]]:
        """Yield each value of an option that varies, after its place in the table and its path."""
        for path, values in self.vary.items():
            for number, value in enumerate(values):
                yield ("vary", path, number), path, value
        for number, point in enumerate(self.include):
            for path, value in point.items():
                yield ("include", number, path), path, value


@dataclass(frozen=True)
class Declared:
    """A part as the suite declares it: its options as written, and the part that they make."""

    label: str
    cls: type[Part]
    options: Mapping[str, JsonValue]
    part: Part
    host: str | None = None
    "Host that the suite names in the part's table."


Parts = Mapping[str, Mapping[str, Declared]]
"Parts of a suite that are sound, by table and label."
Labels = Mapping[str, Sequence[str]]
"Labels that a suite declares, by table."


@dataclass(frozen=True)
class Suite:
    """A suite with one profile and all --set applied, every name in it resolved."""

    path: Path
    text: str
    "Text as written."
    document: Document
    "Document with profile and settings applied, and the place of each value."
    name: str
    title: str
    profile: str | None
    smoke: bool
    network: Literal["private", "host"]
    sockets: tuple[str, ...]
    writes: tuple[str, ...]
    servers: Mapping[str, Declared]
    backends: Mapping[str, Declared]
    loaders: Mapping[str, Declared]
    clients: Mapping[str, Declared]
    runtimes: Mapping[str, Runtime]
    metrics: Mapping[str, Metric]
    "Metrics by label, in the order of the report; the standard set if the suite declares none."
    scenarios: Mapping[str, Scenario]
    "Scenarios to run (`only`)."
    only: tuple[str, ...]
    repeat: Repeat
    tuning: Tuning
    placement: Placement | Literal["auto", "off"]
    tables: Mapping[str, Pivot]
    "Tables that show its cases, by label."
    settings: Mapping[str, str]
    "Values of --set."
    code: tuple[Code, ...] = ()
    "Code of its servers in git repositories. Later, a `ref` alone may lead elsewhere."
    code_digests: Mapping[str, str] | None = None
    "Digests of code and data, as a result has them; None: they are computed from the files."
    claims: tuple[Claim, ...] = ()
    "All that are declared, also of scenarios that are not to be run; cases by name alone."
    workloads: Mapping[str, "Mix"] = field(default_factory=dict)
    "Mixes of the scenarios that have kinds, by label."
    bridges: Mapping[str, str] = field(default_factory=dict)
    "Labels of scenarios in turns, by those of the scenarios that measure their servers alone."
    verdict_rules: VerdictRules = field(default_factory=VerdictRules)
    gate: Gate = field(default_factory=Gate)
    engine: EngineTable = field(default_factory=EngineTable)
    hosts: Mapping[str, HostTable] = field(default_factory=dict)
    "Machines on which parts run, by label."
    hosts_by_role: HostsByRole = field(default_factory=HostsByRole)
    secrets: frozenset[str] = frozenset()
    "Secrets that `redact` removes from every written text: from the environment, and literal."

    @property
    def latencies(self) -> Mapping[str, str]:
        """Labels of scenarios, by those that measure their response times at one rate."""
        labels = {label: scenario.latency_of for label, scenario in self.scenarios.items()}
        return {label: about for label, about in labels.items() if about in labels}

    def hosts_of(self, role: Role, part: Declared) -> tuple[str, ...]:
        """Return the hosts of a part in a role: several for a divided load, none for this one."""
        named: str | tuple[str, ...] = part.host or getattr(self.hosts_by_role, role) or ()
        return (named,) if isinstance(named, str) else named

    @property
    def claims_to_test(self) -> tuple[Claim, ...]:
        """The claims all of whose scenarios are to be run."""
        run = self.scenarios.keys()
        return tuple(claim for claim in self.claims if {it.scenario for it in claim.cases} <= run)
