"""Mixes of requests, as benchforge uses them; mix/ reads and makes them."""

import hashlib
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.parts.part import Driver

FILE = "stream.bin"
LEAST, MOST, PER_S = 1000, 200_000, 10_000
"Records of a load: at least, at most, and in a closed loop for each second. Then it begins again."
_SPARE = 1.2  # random arrivals may be more than the rate says


class StreamRecord(NamedTuple):
    """A request of the stream, without what depends on the trial: the header Host."""

    kind: int
    head: bytes
    "First line and headers, each with its line end."
    body: bytes
    later: tuple[bytes, ...] = ()
    "Later steps of a flow, which it begins, with holes for what answers give."

    @property
    def kinds(self) -> range:
        """Numbers of its kind and of its later steps."""
        return range(self.kind, self.kind + 1 + len(self.later))

    def sent(self, extra: bytes) -> bytes:
        """Return the bytes that go out, with further headers."""
        return b"".join((self.head, extra, b"\r\n", self.body))

    @property
    def framed(self) -> bytes:
        """The record as the digest of a stream takes it: its kind, both lengths, and its bytes."""
        sizes = struct.pack("<HII", self.kind, len(self.head), len(self.body))
        steps = (b"%d:%b" % (len(step), step) for step in self.later)
        return b"".join((sizes, self.head, self.body, *steps))


class Workload(ABC):
    """The mix of a scenario: a pure, seeded function to requests."""

    shares: Mapping[str, int]
    "Share of each kind and of each step of a flow, by label, in the order of their numbers."
    after: Mapping[str, str]
    "Step before each later step of a flow, by labels; empty without flows."
    thinks: Mapping[str, float]
    "Pause before each later step of a flow in seconds, by labels, where the mix gives one."
    flows: Mapping[str, JsonValue]
    "Status, taken values and pause of each step, and the mean number of requests, for load tools."
    text: str
    "Definition of the mix, for the digest of a case."
    whole: bool
    "False where the values of a feed are in a file that is not there."
    files: Mapping[str, str]
    "Digests of the files of feeds, by a key for each."
    deck: list[int]
    "Numbers of the kinds in the smallest pass that has the shares."
    ready: tuple[Request, Expect]
    "The request that decides whether a server is ready, with its right answer."
    first: Mapping[str, tuple[Request, Expect]]
    "A request of each kind with its right answer, the same in each run: probes send it."

    @abstractmethod
    def records(self, seed: int, block: int) -> Iterator[StreamRecord]:
        """Yield the requests of a block. Raises BenchforgeError where a feed runs out."""

    @abstractmethod
    def varies(self, label: str) -> bool:
        """Whether the requests of a kind differ, so that its answers may."""

    @abstractmethod
    def open_requests(self, record: StreamRecord) -> Iterator[Request]:
        """Yield the requests of a record's later steps, with the names of their open holes."""

    @abstractmethod
    def at(self, place: int) -> "Workload":
        """Return the mix with the probes of one of several load tools, at a place from 0 on."""

    @abstractmethod
    def hidden(self, secrets: Collection[str]) -> "Workload":
        """Return the mix without secrets."""

    def digest(self, seed: int, block: int, records: int) -> tuple[str, tuple[int, ...]]:
        """Return the SHA-256 of the first records, and how many there are of each kind."""
        sha256, counts = hashlib.sha256(), [0] * len(self.shares)
        for record in islice(self.records(seed, block), records):
            sha256.update(record.framed)
            for n in record.kinds:
                counts[n] += 1
        return sha256.hexdigest(), tuple(counts)


Share = tuple[Driver, int, int]
"The whole load, i and k: of k load tools, that at place i gets the records i, i + k, and so on."


def amount(driver: Driver) -> int:
    """Return how many records a load gets."""
    load, requests = driver.load(), getattr(driver, "requests", None)
    wanted = PER_S * load.declared_s
    if load.rate is not None:
        wanted = load.rate * load.declared_s * _SPARE
    elif isinstance(requests, int):
        wanted = requests
    return min(MOST, max(LEAST, math.ceil(wanted)))
