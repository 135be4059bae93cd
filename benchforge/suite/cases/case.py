"""Cases: points of a scenario's matrix with every part resolved, ready to be measured."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

from pydantic import BaseModel, JsonValue

from benchforge.errors import Unusable
from benchforge.model.suite.placement import Tuning
from benchforge.model.suite.search import RateSearch
from benchforge.model.suite.until import TurnsPlanned
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.model.values.case_name import CaseName
from benchforge.parts.fault import fault
from benchforge.parts.part import (
    UPSTREAM_OPTIONS,
    Backend,
    Driver,
    Part,
    RunsPython,
    Server,
    ServesCode,
    Service,
)
from benchforge.suite.suite import Moments, Suite
from benchforge.text.safe import HIDDEN

PartT = TypeVar("PartT", bound=Part)


if TYPE_CHECKING:  # few suites have a mix
    from benchforge.suite.mix.stream import Mix


class Case(NamedTuple):
    """What one trial measures. `name.digest` and `name.arm` are its identity, labels are not."""

    name: CaseName
    server: Server
    backends: tuple[tuple[str, Backend], ...]
    "Label and part, in the order in which they start."
    driver: Driver
    request: Request
    "Request with path variables filled in; of a mix, that of one of its kinds."
    expect: Expect
    metrics: tuple[str, ...]
    "Labels of the metrics that the scenario takes."
    warm_up_s: float
    tuning: Tuning
    upstreams: tuple[tuple[str, Server], ...] = ()
    "Label and part of all upstream servers, in the order of their start."
    monitor: Moments | None = None
    "Moments at which the load is monitored; None if it is not."
    find: RateSearch | None = None
    "Search of the case; None if all its trials have the same load."
    turns: TurnsPlanned | None = None
    "Turns of the servers; None if each has a load without pauses."
    hosts: Mapping[str, str] = MappingProxyType({})
    "Host of each process by its name, such as server-flask; empty on one machine."
    workload: "Mix | None" = None
    "Mix of requests; None for one request."
    blocks: int | None = None
    "Number of blocks of its scenario; None for that of the run."
    bridge: bool = False
    "True for a case that is measured in a few blocks, beside the same server in turns."
    once: bool = False
    "True for a case that is measured once in a block, whatever spoils it."

    @property
    def services(self) -> tuple[Service, ...]:
        """Services that start for the driver, the server first."""
        upstreams = (upstream for _, upstream in self.upstreams)
        return (self.server, *upstreams, *(backend for _, backend in self.backends))

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that takes part in a trial, the server first."""
        return (*self.services, self.driver)

    @property
    def declared_s(self) -> float:
        """Declared length of a trial: warm-up and load, in seconds."""
        return self.warm_up_s + self.load_s

    @property
    def load_s(self) -> float:
        """Declared length of the load of a trial, in seconds."""
        return load_s(self.driver) if self.turns is None else self.turns.each_s

    @property
    def driven(self) -> str:
        """Digest of the load tool's options and of the request; empty for a client."""
        if self.driver.kind != "loader":
            return ""
        request = self.request.model_dump(mode="json", exclude={"path"})
        digested = [self.driver.name, self.driver.model_dump(mode="json"), request]
        return hashlib.sha256(json.dumps(digested, sort_keys=True).encode()).hexdigest()[:16]


def load_s(driver: Driver) -> float:
    """Return the seconds of a driver's load. Raises BenchforgeError if it answers nonsense."""
    seconds: object = driver.declared_s()
    if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise fault(driver, "declared_s", f"{seconds!r} is no number of seconds")
    return seconds


class CasePart(Generic[PartT]):
    """A part at some points, with its identity, which is computed once, when it is used."""

    def __init__(self, part: PartT, suite: Suite, host: str | None = None) -> None:
        self.part = part
        self._host = [] if host is None else [host]
        self._suite = suite

    @cached_property
    def text(self) -> str:
        """Its plugin, its options and the code that it serves: elements of a JSON array."""
        return as_text([*self._options, self._code(), *self._host])[1:-1]

    @cached_property
    def load_s(self) -> float:
        """Length of a driver's load by its options, in seconds. Raises BenchforgeError."""
        return load_s(cast("Driver", self.part))

    @property
    def _options(self) -> list[JsonValue]:
        ref = {"ref"} if isinstance(self.part, ServesCode) else set[str]()
        options = self.part.model_dump(mode="json", exclude={*UPSTREAM_OPTIONS, *ref})
        if isinstance(self.part, RunsPython) and self.part.runtime is not None:
            runtime = self._suite.runtimes[self.part.runtime]
            options["runtime"] = runtime.model_dump(mode="json", include={"python", "requires"})
        return [self.part.kind, self.part.name, options]

    @property
    def key(self) -> str | None:
        """Digest of its options, which names its code in a result; None if it has no code."""
        if type(self.part).fingerprint is Part.fingerprint:
            return None
        return hashlib.sha256(as_text(self._options).encode()).hexdigest()[:16]

    def _code(self) -> str:
        """Return what of it is served: a commit is known by its id, whatever led to it."""
        part, suite = self.part, self._suite
        if not isinstance(part, ServesCode) or part.ref is None:
            if suite.code_digests is None or (key := self.key) is None:
                return part.fingerprint(suite.path.parent)
            if HIDDEN in as_text(self._options):
                return HIDDEN
            if key not in suite.code_digests:
                raise Unusable(f"the result has no digest of the code of a {part.kind} {part.name}")
            return suite.code_digests[key]
        same = (row for row in suite.code if (row.directory, row.ref) == (part.directory, part.ref))
        # Where git was not asked, as by `plan`, it stands for itself.
        return f"commit {next((code.commit for code in same), part.ref)}"


def code_digests(parts: Iterable[Part], suite: Suite) -> dict[str, str]:
    """Return the digests of parts' code but commits. Raises BenchforgeError if unreadable."""
    digests: dict[str, str] = {}
    for part in parts:
        key = CasePart(part, suite).key
        if key is not None and not (isinstance(part, ServesCode) and part.ref is not None):
            digests[key] = part.fingerprint(suite.path.parent)
    return digests


def as_text(value: BaseModel | JsonValue) -> str:
    """Return a value as digests take it."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return json.dumps(plain, sort_keys=True)


def template(texts: Mapping[str, str], *gaps: str) -> str:
    """Return a JSON object of texts by their keys, with `%s` for each gap; keys are in order."""
    rows = dict.fromkeys(gaps, "%s") | {key: text.replace("%", "%%") for key, text in texts.items()}
    return f"{{{', '.join(f'{json.dumps(key)}: {rows[key]}' for key in sorted(rows))}}}"


def digest(text: str) -> int:
    """Return the digest of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
