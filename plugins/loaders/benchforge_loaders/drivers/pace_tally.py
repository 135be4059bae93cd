"""What pace counts, of one process or of several added up, and the form in which it is printed."""

import operator
from itertools import zip_longest

BIN_NS = 100_000_000
# A request that ended without a complete response stands in exactly one of these.
ERRORS = ("connect", "tls", "reset", "closed", "cut", "malformed", "extra", "take", "timeout")
REASONS_LIMIT = 20
COUNTS = (
    *("started", "sent", "never_sent", "responses", "received_bytes", "connections", "stray"),
    *("waiting", "sampled_others"),
)
PRINTED = ("errors", "reasons", "server", "completed_by_bin", "failed_by_bin")
TIMES = ("connect", "lateness", "waited", "in_flight")
# Durations below this have a bucket of their own.
PLAIN = 2048
# So many lengths of body are told apart, for each status; the others are counted without.
KINDS = 64
# So many bodies of a sample are told apart, and of so many it is kept how they begin.
SAMPLED, KEPT = 64, 6
_BITS = 11
_BAD = 400
_DIFFER = 2


def bucket(us):
    """Return the number of a duration's bucket, laid out as in model/trial/histogram.py."""
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

    def add(self, other):
        """Add what another one holds."""
        if len(other.counts) > len(self.counts):
            self.make_room(len(other.counts) - 1)
        for place, count in enumerate(other.counts):
            if count:
                self.counts[place] += count
        self.sum += other.sum
        self.max = max(self.max, other.max)

    def printed(self):
        held = [[place, count] for place, count in enumerate(self.counts) if count]
        return {"counts": held, "sum_us": self.sum, "max_us": self.max}


class Tally:
    """Counts of one process."""

    def __init__(self):
        for name in COUNTS:
            setattr(self, name, 0)
        self.failed = 0
        self.errors = dict.fromkeys(ERRORS, 0)
        self.reasons = {}
        self.lengths = set()
        self.bodies = {}
        self.sampled = {}
        self.server = None
        # Of a response that came in one piece to a request that was sent at its intended start,
        # latency, service time and time to the first byte are one number, counted once.
        self.direct = {}
        self.latency = {}
        self.service = Histogram()
        self.first_byte = Histogram()
        for name in TIMES:
            setattr(self, name, Histogram())
        self.completed_by_bin = []
        self.failed_by_bin = []
        self._binned = [0, 0]

    def close_bin(self):
        """End a bin: what was counted since the last one stands in it."""
        now = [self.responses, self.failed]
        self.completed_by_bin.append(now[0] - self._binned[0])
        self.failed_by_bin.append(now[1] - self._binned[1])
        self._binned = now

    def direct_of(self, status, body_bytes):
        """Return where such responses are counted; beyond so many lengths, those of a status."""
        kind = (status, body_bytes)
        if kind not in self.direct and len(self.direct) >= KINDS:
            kind = (status, None)
        return self.direct.setdefault(kind, Histogram())

    def answered(self, status, body_bytes, latency, service, first_byte):
        """Count a response; times in microseconds."""
        self.responses += 1
        self.latency.setdefault(status, Histogram()).record(latency)
        self.service.record(service)
        self.first_byte.record(first_byte)
        kind = (status, body_bytes)
        if kind in self.bodies or len(self.bodies) < KINDS:
            self.bodies[kind] = self.bodies.get(kind, 0) + 1
        if status < _BAD and len(self.lengths) < _DIFFER:
            self.lengths.add(body_bytes)

    def sample(self, status, body_bytes, body):
        """Count a response of the sample by its status and its body."""
        kind = (status, body_bytes, body.digest.hexdigest())
        if kind in self.sampled:
            self.sampled[kind][0] += 1
        elif len(self.sampled) < SAMPLED:
            begin = body.begin.decode(errors="backslashreplace")
            self.sampled[kind] = [1, begin if len(self.sampled) < KEPT else None]
        else:
            self.sampled_others += 1

    def fail(self, kind, reason):
        self.failed += 1
        self.errors[kind] += 1
        self.note(reason)

    def note(self, reason):
        """Count a reason; beyond the most, further ones are not kept."""
        if reason and (reason in self.reasons or len(self.reasons) < REASONS_LIMIT):
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def printed(self):
        """Return the part of the document that one process gives."""
        direct = {}
        for (status, _), each in self.direct.items():
            direct = _by_key(direct, {str(status): each.printed()}, added)
        rest = {str(status): each.printed() for status, each in self.latency.items()}
        together = added_all(direct.values())
        return {
            **{name: getattr(self, name) for name in (*COUNTS, *PRINTED)},
            **{name: getattr(self, name).printed() for name in TIMES},
            "body_lengths": sorted(self.lengths),
            "bodies": self._bodies(),
            "sampled": [[*kind, *each] for kind, each in self.sampled.items()],
            "latency": _by_key(direct, rest, added),
            "service": added(together, self.service.printed()),
            "first_byte": added(together, self.first_byte.printed()),
        }

    def _bodies(self):
        """Return status, length and number of those bodies whose length was kept."""
        found = dict(self.bodies)
        for kind, each in self.direct.items():
            if kind[1] is not None and (count := sum(each.counts)):
                found[kind] = found.get(kind, 0) + count
        return [[*kind, count] for kind, count in sorted(found.items())]


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
    if name in ADDED_BY_KEY:
        return _by_key(one, other, ADDED_BY_KEY[name])
    if name in ADDED:
        return ADDED[name](one, other)
    if isinstance(one, dict):
        return added(one, other)
    return one + other


def _bins_added(one, other):
    return [a + b for a, b in zip_longest(one, other, fillvalue=0)]


def _bodies_added(one, other):
    both = {(status, length): count for status, length, count in one}
    for status, length, count in other:
        both[status, length] = both.get((status, length), 0) + count
    return [[*kind, count] for kind, count in sorted(both.items())]


def _sampled_added(one, other):
    both = {tuple(row[:3]): row[3:] for row in one}
    for *kind, count, begin in other:
        earlier = both.get(tuple(kind), [0, begin])
        both[tuple(kind)] = [earlier[0] + count, earlier[1]]
    kept = [kind for kind, each in both.items() if each[1] is not None][:KEPT]
    return [[*kind, n, begin if kind in kept else None] for kind, (n, begin) in both.items()]


def _by_key(one, other, add):
    both = dict(one)
    for key, value in other.items():
        both[key] = add(both[key], value) if key in both else value
    return both


ADDED = {
    "completed_by_bin": _bins_added,
    "failed_by_bin": _bins_added,
    "bodies": _bodies_added,
    "sampled": _sampled_added,
    "stages": lambda one, other: [
        [merged(pair) for pair in zip(*parts, strict=True)]
        for parts in zip(one, other, strict=True)
    ],
    "kinds": lambda one, other: [merged(pair) for pair in zip(one, other, strict=True)],
    "body_lengths": lambda one, other: sorted({*one, *other})[:_DIFFER],
    "server": lambda one, other: one or other,
}
ADDED_BY_KEY = {"latency": added, "errors": operator.add}
ADDED_BY_KEY.update(dict.fromkeys(("reasons", "not_reached"), operator.add))
