"""What pace counts, of one process or of several added up, and the form in which it is printed."""

import operator
from itertools import zip_longest

BIN_NS = 100_000_000
# A request that ended without a complete response stands in exactly one of these.
ERRORS = ("connect", "tls", "reset", "closed", "cut", "malformed", "extra", "timeout")
REASONS_LIMIT = 20
# Durations below this have a bucket of their own.
PLAIN = 2048
_BITS = 11
_BAD = 400
_DIFFER = 2


def bucket(us):
    """Return the number of a duration's bucket: as benchforge/model/histogram.py lays them out."""
    exponent = us.bit_length() - _BITS
    return us if exponent <= 0 else (exponent << (_BITS - 1)) + (us >> exponent)


class Histogram:
    """Durations in whole microseconds, each counted in its bucket."""

    __slots__ = ("counts", "max", "sum")

    def __init__(self):
        self.counts = [0] * 4096
        self.sum = 0
        self.max = 0

    def record(self, us):
        place = bucket(us)
        self.make_room(place)
        self.counts[place] += 1
        self.sum += us
        self.max = max(self.max, us)

    def make_room(self, place):
        if place >= len(self.counts):
            self.counts += [0] * (place - len(self.counts) + 1024)

    def printed(self):
        held = [[place, count] for place, count in enumerate(self.counts) if count]
        return {"counts": held, "sum_us": self.sum, "max_us": self.max}


class Tally:
    """Counts of one process."""

    def __init__(self):
        self.started = 0
        self.sent = 0
        self.never_sent = 0
        self.responses = 0
        self.failed = 0
        self.errors = dict.fromkeys(ERRORS, 0)
        self.reasons = {}
        self.received_bytes = 0
        self.connections = 0
        self.stray = 0
        self.waiting = 0
        self.lengths = set()
        self.server = None
        # Of a response that came in one piece to a request that was sent at its intended start,
        # latency, service time and time to the first byte are one number, counted once.
        self.direct = {}
        self.latency = {}
        self.service = Histogram()
        self.first_byte = Histogram()
        self.connect = Histogram()
        self.lateness = Histogram()
        self.waited = Histogram()
        self.in_flight = Histogram()
        self.completed_by_bin = []
        self.failed_by_bin = []
        self._binned = [0, 0]

    def close_bin(self):
        """End a bin: what was counted since the last one stands in it."""
        now = [self.responses, self.failed]
        self.completed_by_bin.append(now[0] - self._binned[0])
        self.failed_by_bin.append(now[1] - self._binned[1])
        self._binned = now

    def direct_of(self, status):
        return self.direct.setdefault(status, Histogram())

    def answered(self, status, body_bytes, latency, service, first_byte):
        """Count a response; times in microseconds."""
        self.responses += 1
        self.latency.setdefault(status, Histogram()).record(latency)
        self.service.record(service)
        self.first_byte.record(first_byte)
        self.measure_body(status, body_bytes)

    def measure_body(self, status, body_bytes):
        if status < _BAD and len(self.lengths) < _DIFFER:
            self.lengths.add(body_bytes)

    def fail(self, kind, reason):
        self.failed += 1
        self.errors[kind] += 1
        if reason and (reason in self.reasons or len(self.reasons) < REASONS_LIMIT):
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def printed(self):
        """Return the part of the document that one process gives."""
        direct = {str(status): each.printed() for status, each in self.direct.items()}
        rest = {str(status): each.printed() for status, each in self.latency.items()}
        together = added_all(direct.values())
        return {
            "started": self.started,
            "sent": self.sent,
            "never_sent": self.never_sent,
            "responses": self.responses,
            "errors": self.errors,
            "reasons": self.reasons,
            "received_bytes": self.received_bytes,
            "connections": self.connections,
            "stray": self.stray,
            "waiting": self.waiting,
            "body_lengths": sorted(self.lengths),
            "server": self.server,
            "latency": _by_key(direct, rest, added),
            "service": added(together, self.service.printed()),
            "first_byte": added(together, self.first_byte.printed()),
            "connect": self.connect.printed(),
            "lateness": self.lateness.printed(),
            "waited": self.waited.printed(),
            "in_flight": self.in_flight.printed(),
            "completed_by_bin": self.completed_by_bin,
            "failed_by_bin": self.failed_by_bin,
        }


def added(one, other):
    """Return two printed histograms as if both had been recorded together."""
    counts = dict(one["counts"])
    for place, count in other["counts"]:
        counts[place] = counts.get(place, 0) + count
    return {
        "counts": sorted([place, count] for place, count in counts.items() if count),
        "sum_us": one["sum_us"] + other["sum_us"],
        "max_us": max(one["max_us"], other["max_us"]),
    }


def added_all(printed):
    total = {"counts": [], "sum_us": 0, "max_us": 0}
    for each in printed:
        total = added(total, each)
    return total


def merged(parts):
    """Return what several processes printed as one."""
    total = parts[0]
    for part in parts[1:]:
        total = {name: _merged(name, total[name], part[name]) for name in total}
    return total


def _merged(name, one, other):
    if name in ("latency", "errors", "reasons"):
        return _by_key(one, other, added if name == "latency" else operator.add)
    if name in ("completed_by_bin", "failed_by_bin"):
        return [a + b for a, b in zip_longest(one, other, fillvalue=0)]
    if name == "body_lengths":
        return sorted({*one, *other})[:_DIFFER]
    if name == "server":
        return one or other
    if isinstance(one, dict):
        return added(one, other)
    return one + other


def _by_key(one, other, add):
    both = dict(one)
    for key, value in other.items():
        both[key] = add(both[key], value) if key in both else value
    return both
