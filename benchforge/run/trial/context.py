"""Context of all trials of a result, set up before any starts, and inputs and outcome of one."""

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import JsonValue

from benchforge.errors import ProgramMissing, Unusable
from benchforge.model.trial.hosts import HostFacts
from benchforge.model.trial.trial import Trial
from benchforge.parts.command import Need
from benchforge.parts.part import Driver, Part, RunsPython, ServesCode
from benchforge.parts.site import Tree
from benchforge.run.http.request import Like
from benchforge.run.locate import locate, missing
from benchforge.run.machine.facts import facts
from benchforge.run.machine.placement import Places
from benchforge.run.machine.quiet import Patience
from benchforge.run.programs.runtimes import Ready, ready
from benchforge.run.sandbox.host import Host, LocalHost, Network
from benchforge.suite.plan import Measurement
from benchforge.suite.suite import Suite


@dataclass(frozen=True)
class TrialInputs:
    """What one trial measures, and where its files go."""

    step: Measurement
    folder: Path
    number: int
    attempt: int = 1
    like: Like | None = None
    "Answer that its own must equal; None where it may be any that is right."
    spare_s: float = math.inf
    "Longest wait for quiet, in seconds."
    divided: tuple[Driver, int, int] | None = None
    "The whole load, place and number of places, where the driver is one of several load tools."
    at_once: int = 1
    "Trials that start together: a service may take that many times as long."


@dataclass(frozen=True)
class MeasuredTrial:
    """A trial, ready to be written, and the body that its server answered."""

    trial: Trial
    body: bytes | None


MeasureElsewhere = Callable[[TrialInputs, "TrialContext", Callable[[str], None]], MeasuredTrial]


@dataclass(frozen=True)
class TrialContext:
    """Where trials stand. `secrets` are texts that are never written."""

    host: Host
    programs: Mapping[str, Path]
    python: Path
    "Our own interpreter."
    suite_folder: Path
    network: Network
    secrets: frozenset[str]
    as_root: bool
    runtimes: Mapping[str, Ready] = field(default_factory=dict)
    "Interpreters by label of the runtime."
    places: Places = field(default_factory=dict)
    "The CPUs of each role that has its own."
    quiet: Patience = "off"
    "Longest wait for quiet before each trial."
    trees: Mapping[tuple[str | None, str], Tree] = field(default_factory=dict)
    "Checkouts of the servers that serve a commit, by directory and ref."
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    "Facts about the machine when the run began."
    elsewhere: MeasureElsewhere | None = None
    "Measures trials whose parts run on hosts; None where no part does."
    hosts: Mapping[str, HostFacts] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    peers: tuple[str, ...] = ()
    "Addresses of the trial's other hosts, which may connect to its services."
    sockets: tuple[Path, ...] = ()
    "Sockets of the machine that the suite names, and folders of them."
    writes: tuple[Path, ...] | None = ()
    "Folders that the suite names: programs may change them, and no others; None for all."

    def interpreter_of(self, part: Part) -> str | None:
        """Return the file behind a part's interpreter; None for what is no Python."""
        if not isinstance(part, RunsPython) or not part.starts_python():
            return None
        if part.runtime is None:
            return str(self.python.resolve())
        return self.runtimes[part.runtime].facts.real_path

    def tree_of(self, part: Part) -> Tree | None:
        """Return the checkout that a part of this machine is served from, if any."""
        if not isinstance(part, ServesCode) or part.ref is None:
            return None
        return self.trees.get((part.directory, part.ref))

    def python_of(self, part: Part) -> Path:
        """Return the interpreter of a part."""
        label = part.runtime if isinstance(part, RunsPython) else None
        return self.python if label is None else self.runtimes[label].python


def ground(suite: Suite, parts: Iterable[Part]) -> TrialContext:
    """Return the context of these parts of a suite, on this machine, without its runtimes.

    Raises Unusable where nothing can run, and ProgramMissing, naming all that is missing.
    """
    if not sys.platform.startswith("linux"):
        raise Unusable("running needs Linux: namespaces and /proc", "validate works anywhere")
    return TrialContext(
        host=LocalHost(),
        programs=locate_programs(needs_of(parts), suite.path.parent),
        python=Path(sys.executable),
        suite_folder=suite.path.parent.resolve(),
        network=suite.network,
        sockets=tuple(map(Path, suite.sockets)),
        writes=tuple((suite.path.parent / folder).resolve() for folder in suite.writes),
        secrets=suite.secrets,
        as_root=os.geteuid() == 0,
        facts=facts(),
        quiet="off" if suite.smoke else suite.repeat.quiet,
    )


def needs_of(parts: Iterable[Part]) -> list[Need]:
    """Return all programs that parts need, and the modules of our own interpreter."""
    return [
        need
        for part in parts
        for need in part.needs()
        if need.kind == "program" or not isinstance(part, RunsPython) or part.runtime is None
    ]


def with_runtimes(
    context: TrialContext, suite: Suite, parts: Iterable[Part], tell: Callable[[str], None]
) -> TrialContext:
    """Return the context with the runtimes of the parts, too. Raises what `ready` raises."""
    runtimes = ready(suite, parts, context.host, tell)
    return replace(context, runtimes={**context.runtimes, **runtimes})


def locate_programs(needs: Iterable[Need], suite_folder: Path = Path()) -> dict[str, Path]:
    """Return where each needed program is; a name with a slash starts at the suite's folder.

    Modules are those of our own interpreter. Raises ProgramMissing, naming all that are missing.
    """
    wanted = list(dict.fromkeys(needs))
    if absent := missing(wanted, suite_folder):
        names = ", ".join(need.name for need in absent)
        kinds = {need.kind for need in absent}
        kind = "program" if kinds == {"program"} else "module" if kinds == {"module"} else "need"
        plural = "s" if len(absent) > 1 else ""
        hint = "; ".join(dict.fromkeys(f"{need.name}: {need.how}" for need in absent))
        raise ProgramMissing(f"missing {kind}{plural}: {names}", hint)
    programs = (need.name for need in wanted if need.kind == "program")
    return {name: path for name in programs if (path := locate(name, suite_folder))}
