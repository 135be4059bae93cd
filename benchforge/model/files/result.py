"""The header of a result: what was asked, with what, on what."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field, JsonValue, NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.suite.claim import Claim, VerdictRules
from benchforge.model.suite.code import Code, Interpreter
from benchforge.model.suite.pivot import Pivot
from benchforge.model.suite.search import RateSearch
from benchforge.model.suite.until import TurnsPlanned, Until
from benchforge.model.trial.hosts import HostFacts
from benchforge.model.values.bounds import FileName, Moment
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import Frozen

HARD = (
    *("machine_id", "virtual", "virtualization"),
    *("cpu", "cpu_family", "cpu_stepping", "microcode", "machine"),
    *("cpus", "cpus_usable", "sockets", "cores", "smt", "caches", "numa_nodes"),
    *("cpus_online", "cpus_isolated", "cpus_nohz_full"),
    *("governor", "scaling_driver", "frequency_khz", "boost", "no_turbo", "energy_preference"),
    *("mains", "power_profile"),
    *("mitigations", "kernel", "kernel_version", "kernel_arguments"),
    *("memory_kb", "swap_kb", "huge_pages", "clocksource", "control_group"),
    *("sysctl", "loopback_mtu", "limits", "python", "root"),
    "hosts",
)
"A change of one of them forbids to compare with numbers from before."

SOFT = (
    *("hostname", "system", "libc", "idle_driver", "aslr", "same_page_merging", "clock_sync"),
    "scratch_file_system",
)
"Shown where results differ. Facts in neither list change at each look."


def hard(facts: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the hard facts, in their order; one that the machine does not tell is None."""
    return {name: facts[name] for name in HARD if name in facts}


def fingerprint(facts: Mapping[str, JsonValue]) -> str:
    """Return the digest of the hard facts: SHA-256 of their JSON, sorted by name."""
    text = json.dumps(hard(facts), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def changes(then: Mapping[str, JsonValue], newer: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield each hard fact that both know and that is another, in a word: was this, is that."""
    for name in HARD:
        if name in then and name in newer and then[name] != newer[name]:
            yield from _changes(name, then[name], newer[name])


def _changes(name: str, then: JsonValue, newer: JsonValue) -> Iterator[str]:
    if isinstance(then, dict) and isinstance(newer, dict):
        for key in sorted(then.keys() | newer.keys()):
            if then.get(key) != newer.get(key):
                yield from _changes(f"{name}.{key}", then.get(key), newer.get(key))
    else:
        yield f"{name} was {_shown(then)}, is {_shown(newer)}"


def _shown(value: JsonValue) -> str:
    return "unknown" if value is None else repr(value)


class MetricUse(Frozen):
    """A metric as the suite declares it: enough to compute it again from the trials."""

    label: str
    "Label of the metric."
    use: str
    "Name of the metric's part."
    options: dict[str, JsonValue]
    "Options as the suite gives them."
    unit: str
    "Unit of the values."
    better: Literal["higher", "lower"]
    "Better direction of the values."


class Planned(Frozen):
    """A measurement of the plan."""

    block: PositiveInt
    "Number of the block, from 1."
    position: PositiveInt
    "Position in the block, from 1."
    case: CaseName
    "Case to measure."
    seed: NonNegativeInt
    "Value of PYTHONHASHSEED for the servers."
    declared_s: NonNegativeFloat
    "Declared length of warm-up and load, without start and stop."


class Header(Frozen):
    """Header of a result. It is written before the first trial, and never changes."""

    format: Literal[2] = 2
    "Version of the file format."
    kind: Literal["result"] = "result"
    "Kind of this file."
    name: str
    "Name of the suite: the first part of the folder's name."
    title: str
    "Title of the suite."
    created: Moment
    "Start of the run, with its time zone."
    benchforge: str
    "Version of benchforge that measured."
    profile: str | None
    "Name of the profile; None without --profile."
    smoke: bool
    "True for a smoke run: its numbers mean nothing."
    settings: dict[str, str]
    "Values of --set, by path."
    only: tuple[str, ...]
    "Labels of the scenarios that were selected; empty for all."
    suite: str
    "Text of the suite as written, with secrets redacted."
    suite_file: str = ""
    "Path of the suite's file, for `--resume`."
    suite_sha256: str
    "SHA-256 of the suite as written."
    seed: NonNegativeInt
    "Seed of the measurement order. The same seed gives the same plan."
    cases: tuple[CaseName, ...]
    "Cases in the order of the suite."
    plan: tuple[Planned, ...]
    "Measurements in their order. With `until` or a search, the most that may be needed."
    until: Until | None = None
    "Rule that ends the run before its plan; None if the number of blocks is given."
    searches: dict[str, RateSearch] = Field(default_factory=dict)
    "Searches for a rate, by the label of their scenario."
    turns: dict[str, TurnsPlanned] = Field(default_factory=dict)
    "Turns of the servers, by the label of their scenario; without those that take none."
    bridges: dict[str, str] = Field(default_factory=dict)
    """Labels of scenarios in turns, by those of the scenarios that measure their servers one after
    the other, in fewer blocks."""
    latencies: dict[str, str] = Field(default_factory=dict)
    """Labels of scenarios, by those of the scenarios that measure the response times of their
    servers at one rate, in fewer blocks, and nothing else."""
    titles: dict[str, str] = Field(default_factory=dict)
    "Titles of scenarios, by label; without those that have none."
    clients: tuple[str, ...] = ()
    "Labels of scenarios whose clients are compared; others compare servers. Older results: none."
    metrics: tuple[MetricUse, ...]
    "Metrics in the order of the report."
    scenario_metrics: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    "Labels of the metrics of each scenario that names its own; other scenarios have all metrics."
    tables: dict[FileName, Pivot] = Field(default_factory=dict)
    "Tables of the suite that have a case in this run, by label."
    claims: tuple[Claim, ...] = ()
    "Claims of the suite whose cases are all in this run."
    verdict_rules: VerdictRules = VerdictRules()
    "Rules that adjust the verdicts for the number of questions in `claims`."
    hosts: dict[str, HostFacts] = Field(default_factory=dict)
    "Machines that run the parts of trials, by label; empty if all run on benchforge's own."
    placement: dict[str, str] = Field(default_factory=dict)
    "CPUs of each role that has its own; empty if all processes share all CPUs."
    versions: dict[str, str]
    "Version that each part's program reports, followed by the label of the part's runtime."
    runtimes: dict[FileName, Interpreter] = Field(default_factory=dict)
    "Reports of the interpreters that parts run on, by label. `benchforge` is benchforge's own."
    code: tuple[Code, ...] = ()
    "Code of each server that is in a git repository."
    code_digests: dict[str, str] | None = None
    """Digests of the code and data of the parts that can have some, by digests of their options: \
the digests of cases follow from them and from `suite`. None in a result of an older version."""
    facts: dict[str, JsonValue]
    "Facts about the machine."
    fingerprint: str = ""
    "Digest of the machine's hard facts. Results with different digests are not comparable."
    thresholds_version: str = ""
    "Version of the checks' thresholds."
    loosened_thresholds: dict[str, float] = Field(default_factory=dict)
    "Thresholds that the calibration of this machine loosened, by check."
