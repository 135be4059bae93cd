"""The requests of a mix, one after the other: a file that is mapped, and its index."""

import mmap
import struct
import sys
from pathlib import Path

from flow_steps import Flows
from pace_tally import Histogram, Tally

# Offset and length of a record, the number of its kind, and of the later steps of its flow.
_ENTRY = struct.Struct("<QIHH")
_COUNTED = ("responses", "errors", "received_bytes", "bodies", "latency", "in_flight")


class Stream:
    """The records of one process, which is number `part` of `parts`, and the counts of each kind.

    It takes the records `part`, `part + parts`, and so on, and begins again at the end.
    """

    def __init__(self, path, kinds, part, parts):
        self._content = _mapped(Path(path))
        self._index = _mapped(Path(path).with_suffix(".index"))
        self.flows = Flows(path)
        self._records = len(self._index) // _ENTRY.size
        self._part, self._parts = part, parts
        if self._records < parts:
            sys.exit(f"pace: {parts} processes cannot share {self._records} records")
        self.begin(kinds)

    def begin(self, kinds):
        """Begin with the first record, and count anew."""
        self.tallies = [Tally() for _ in range(kinds)]
        # Known heads, by kind: the histogram behind a head is that of one kind.
        self.fast = [{} for _ in range(kinds)]
        self._not_reached = {n: 0 for n in range(kinds) if self.flows.is_later(n)}
        self._at = self._part
        self.taken = 0
        self.began_again = 0

    def take(self, connection):
        """Give a connection its next request, and return its bytes."""
        if self._at >= self._records:
            self._at = self._part
            self.began_again += 1
        offset, length, kind, later = _ENTRY.unpack_from(self._index, self._at * _ENTRY.size)
        self._at += self._parts
        self.taken += 1
        connection.kind = kind
        connection.fast = self.fast[kind]
        connection.request = request = self._content[offset : offset + length]
        if later:
            connection.flow = self.flows.begun(self._content, offset + length, kind, later)
            connection.fast = {}  # each answer of a flow is looked at, but the last
        return request

    def follow(self, connection):
        """Give a connection the next request of its flow."""
        flow = connection.flow
        self.taken += 1
        connection.kind = flow.kind
        connection.request = flow.next
        connection.fast = {} if flow.steps else self.fast[flow.kind]
        if not flow.steps:
            connection.flow = None

    def abort(self, flow):
        """Count the steps of a flow that come no more."""
        for kind in flow.later:
            self._not_reached[kind] += 1

    def into(self, total):
        """Add to the counts of all what only those of kinds have: responses of known heads."""
        for tally in self.tallies:
            for (status, length), histogram in tally.direct.items():
                total.direct.setdefault((status, length), Histogram()).add(histogram)

    def printed(self):
        kinds = []
        for tally in self.tallies:
            printed = tally.printed()
            # Those of known heads are in no other count of their kind.
            printed["responses"] = sum(
                n for one in printed["latency"].values() for _, n in one["counts"]
            )
            kinds.append({name: printed[name] for name in _COUNTED})
        return {
            "kinds": kinds,
            "taken": [self.taken],
            "began_again": self.began_again,
            "not_reached": {str(kind): count for kind, count in self._not_reached.items()},
        }


def _mapped(path):
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        sys.exit(f"pace: {path}: {getattr(error, 'strerror', None) or error}")
