"""A request of a mix's stream, and how many of them a load gets."""

import math
import struct
from typing import NamedTuple

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
