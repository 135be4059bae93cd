"""What all drivers share: what they are told, how a request is timed, and the numbers they print.

Plain files, which run where benchforge is not installed, on CPython 3.9 and newer and on PyPy. A
driver makes requests with one library; it answers each call of `ask(number)` with the status and
the length of the body, once the body is read, and raises what the library raises.
"""

import argparse
import contextlib
import itertools
import json
import pathlib
import platform
import resource
import ssl
import sys
import threading
import time
import urllib.parse

VERSION = 1
BAD = 400  # from this status on
KINDS = 64  # lengths of body that are told apart
_BEGUN = time.perf_counter()
_imports = {"seconds": 0.0}


@contextlib.contextmanager
def importing():
    """Time the import of the library, which is no part of the load."""
    begun = time.perf_counter()
    yield
    _imports["seconds"] += time.perf_counter() - begun


def plan(description, modes=("default",)):
    """Return what the driver is told by its arguments."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--url", required=True)
    help_ = "METHOD PATH, then NAME: VALUE, a line each: everybody can read arguments"
    parser.add_argument("--head", metavar="FILE", required=True, help=help_)
    parser.add_argument("--body", metavar="FILE", help="file with the body of the request")
    parser.add_argument("--mode", choices=modes, default=modes[0])
    parser.add_argument("--requests", type=int, help="how many")
    parser.add_argument("--seconds", type=float, help="for how long")
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--chunk", type=int, default=100)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds after each request")
    parser.add_argument("--warm-up", type=int, default=0, help="requests before the load")
    parser.add_argument("--timeout", type=float, default=30.0)
    parser.add_argument("--no-verify", dest="verify", action="store_false")
    parser.add_argument("--ca-file", help="PEM file to trust in place of the usual ones")
    parser.add_argument("--numbered", help="parameter of the query that gets each request's number")
    parser.add_argument("--decode-json", action="store_true", help="decode each body, and drop it")
    parser.add_argument("--turns", metavar="FOLDER", help="with the pipes go and done: see slices")
    told = parser.parse_args()
    if told.requests is None and told.seconds is None:
        parser.error("give --requests, --seconds, or both: then the first end counts")
    first, *headers = pathlib.Path(told.head).read_text().splitlines()
    told.method, _, path = first.partition(" ")
    told.url += path
    told.headers = dict(header.split(": ", 1) for header in headers)
    told.payload = None
    if told.body is not None:
        told.payload = pathlib.Path(told.body).read_bytes()
    told.parts = urllib.parse.urlsplit(told.url)
    return told


def url_of(told, number):
    """Return the address of a request: the same for all, unless they are numbered."""
    if told.numbered is None:
        return told.url
    joint = "&" if told.parts.query else "?"
    return f"{told.url}{joint}{told.numbered}={number}"


def path_of(told):
    """Return the path and the query, as on the request line."""
    path = told.parts.path or "/"
    return f"{path}?{told.parts.query}" if told.parts.query else path


def decoded(told, body):
    """Decode a body where that is asked for; return its length in bytes."""
    if told.decode_json:
        json.loads(body)
    return len(body)


def tls(told, create=ssl.create_default_context):
    """Return a context that trusts what is to be trusted."""
    context = create(cafile=told.ca_file)
    if not told.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class Connections:
    """Counts connections that were opened; None once that cannot be known any more."""

    def __init__(self):
        self.opened = 0
        self.why = ""
        self._lock = threading.Lock()

    def add(self, count=1):
        with self._lock:
            self.opened += count

    def unknown(self, why):
        self.why = self.why or why

    def of(self, sockets):
        """Count each `connect` of a class of blocking sockets that succeeds."""
        connect = sockets.connect

        def counted(self_, *address):
            result = connect(self_, *address)
            self.add()
            return result

        sockets.connect = counted
        return self

    def of_asyncio(self, loops):
        """Count each connection that a class of event loops makes."""
        sock_connect = loops.sock_connect

        async def counted(self_, *address):
            result = await sock_connect(self_, *address)
            self.add()
            return result

        loops.sock_connect = counted
        return self


class Tally:
    """What came of requests. Not locked: threads have one each, or lock it."""

    def __init__(self):
        self.latency_us = {}
        self.statuses = {}
        self.errors = {}
        self.complaints = {}
        self.lengths = {}
        self.surfaced = None
        "How many errors the calling code was told of; None where that is all of them."

    def answered(self, status, length, nanoseconds):
        us = nanoseconds // 1000
        self.latency_us[us] = self.latency_us.get(us, 0) + 1
        self.statuses[status] = self.statuses.get(status, 0) + 1
        key = (status, length)
        self.lengths[key] = self.lengths.get(key, 0) + 1

    def failed(self, error):
        name = type(error).__name__
        if name == "error":  # every library has one
            name = f"{type(error).__module__}.error {error.args[0] if error.args else ''}".strip()
        self.errors[name] = self.errors.get(name, 0) + 1
        self.complaints.setdefault(name, str(error)[:300])

    def add(self, other):
        for mine, theirs in (
            (self.latency_us, other.latency_us),
            (self.statuses, other.statuses),
            (self.errors, other.errors),
            (self.lengths, other.lengths),
        ):
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count
        for name, said in other.complaints.items():
            self.complaints.setdefault(name, said)

    @property
    def responses(self):
        return sum(self.statuses.values())

    @property
    def requests(self):
        return self.responses + sum(self.errors.values())

    @property
    def first_length(self):
        """The body length of the first good response; None without one."""
        return next((length for status, length in self.lengths if status < BAD), None)

    @property
    def other_lengths(self):
        """Good responses whose body was not as long as that of the first one."""
        first = self.first_length
        return sum(
            count
            for (status, length), count in self.lengths.items()
            if status < BAD and length != first
        )

    @property
    def bodies(self):
        """Status, length and number of the responses of the most frequent lengths."""
        often = sorted(self.lengths.items(), key=lambda one: -one[1])[:KINDS]
        return sorted([*kind, count] for kind, count in often)

    @property
    def body_bytes(self):
        return sum(length * count for (_, length), count in self.lengths.items())


class Turns:
    """The numbers of the requests that are still to be made; threads may share it."""

    def __init__(self, requests, seconds):
        self._numbers = itertools.count()
        self._requests = requests
        self._until = None if seconds is None else time.perf_counter() + seconds

    def __iter__(self):
        return self

    def __next__(self):
        if self._until is not None and time.perf_counter() >= self._until:
            raise StopIteration
        number = next(self._numbers)
        if self._requests is not None and number >= self._requests:
            raise StopIteration
        return number

    def rounds(self):
        """Yield the numbers of all requests; with seconds too, again until they are over."""
        while True:
            yield range(self._requests)
            if self._until is None or time.perf_counter() >= self._until:
                return


def ask_all(ask, turns, tally, delay=0.0):
    """Make request after request, each timed from before the call until its body is read."""
    clock = time.perf_counter_ns
    for number in turns:
        begun = clock()
        try:
            status, length = ask(number)
        except Exception as error:  # noqa: BLE001 - it is counted, whatever it is
            tally.failed(error)
        else:
            tally.answered(status, length, clock() - begun)
        if delay:
            time.sleep(delay)


async def ask_one_async(ask, number, tally):
    """Make one request, timed in the same way."""
    begun = time.perf_counter_ns()
    try:
        status, length = await ask(number)
    except Exception as error:  # noqa: BLE001 - it is counted, whatever it is
        tally.failed(error)
    else:
        tally.answered(status, length, time.perf_counter_ns() - begun)


async def ask_all_async(ask, turns, tally):
    """Make request after request, as `ask_all`."""
    for number in turns:
        await ask_one_async(ask, number, tally)


def way(name):
    """Return a decorator that says of a load what it is; what is run tells it, not who chose it."""

    def named(load):
        load.way = name
        return load

    return named


def in_tasks(gather, ask, told):
    """Return a load of tasks, each of which makes request after request; `gather` is asyncio's."""

    async def load(turns, tally):
        tasks = (ask_all_async(ask, turns, tally) for _ in range(told.concurrency))
        await gather(*tasks)

    return load


def in_greenlets(gevent, asks):
    """Return a load of greenlets, one for each of `asks`; `gevent` is the library."""

    def load(turns, tally):
        greenlets = [gevent.spawn(ask_all, ask, turns, tally) for ask in asks]
        gevent.joinall(greenlets, raise_error=True)

    return load


def in_threads(told, asks):
    """Return a load: one thread for each of `asks`; a single one runs in this thread."""

    def load(turns, tally):
        if len(asks) == 1:
            ask_all(asks[0], turns, tally, told.delay)
            return
        tallies = [Tally() for _ in asks]
        threads = [
            threading.Thread(target=ask_all, args=(ask, turns, own))
            for ask, own in zip(asks, tallies)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for own in tallies:
            tally.add(own)

    return load


def _now():
    return time.monotonic_ns()


class Load:
    """One load, from its warm-up to the line of JSON that says what came of it."""

    def __init__(self, told, library, version, connections):
        self._told = told
        self._library = library
        self._version = version
        self._connections = connections
        self._warm_up = Tally()
        self._tally = Tally()
        self._seconds = self._user_s = self._system_s = 0
        self._way = ""

    def parts(self):
        """Yield turns and tally of each part of the load: of all of it, or of its slices."""
        self._opened_before = self._connections.opened
        if self._told.turns is not None:
            yield from self.slices(pathlib.Path(self._told.turns))
            return
        self._begin()
        yield Turns(self._told.requests, self._told.seconds), self._tally
        self._end()

    def slices(self, pipes):
        """Yield turns and tally of each slice, as the lines of `go` say; tell `done` what it gave.

        `slice NANOSECONDS` is a slice, `anew` forgets all that was counted, `end` is the end.
        """
        with (pipes / "go").open() as go, (pipes / "done").open("w") as done:
            for line in go:
                word, _, length = line.strip().partition(" ")
                if word == "end":
                    return
                if word == "anew":
                    self._tally, self._seconds, self._user_s, self._system_s = Tally(), 0, 0, 0
                    print(file=done, flush=True)
                    continue
                requests, responses, begun = self._tally.requests, self._tally.responses, _now()
                self._begin()
                yield Turns(None, int(length) / 1e9), self._tally
                self._end()
                sent, answered = self._tally.requests - requests, self._tally.responses - responses
                counts = begun, _now(), sent, answered, sent - answered
                print(*counts, file=done, flush=True)

    def _begin(self):
        self._usage = resource.getrusage(resource.RUSAGE_SELF)
        self._begun = time.perf_counter()

    def _end(self):
        self._seconds += time.perf_counter() - self._begun
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self._user_s += usage.ru_utime - self._usage.ru_utime
        self._system_s += usage.ru_stime - self._usage.ru_stime

    def run(self, load):
        """Run a load that is given turns and a tally, and print what came of it."""
        for turns, tally in self._all(load):
            load(turns, tally)
        self.tell()

    async def run_async(self, load):
        """Run a load as `run` does."""
        for turns, tally in self._all(load):
            await load(turns, tally)
        self.tell()

    def _all(self, load):
        """Yield turns and tally of the warm-up, if there is one, then of each part."""
        self._set_up_s = time.perf_counter() - _BEGUN
        self._way = getattr(load, "way", "")
        if self._told.warm_up:
            yield Turns(self._told.warm_up, None), self._warm_up
        yield from self.parts()

    def tell(self):
        """Print what came of it."""
        tally, before = self._tally, self._warm_up
        opened = self._connections.opened - self._opened_before
        known = not self._connections.why
        errors = sum(tally.errors.values())
        document = {
            "protocol": VERSION,
            "library": self._library,
            "version": self._version,
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "mode": self._told.mode,
            "way": self._way,
            "requests": tally.requests,
            "seconds": self._seconds,
            "user_s": self._user_s,
            "system_s": self._system_s,
            "import_s": _imports["seconds"],
            "set_up_s": self._set_up_s,
            "statuses": {str(status): count for status, count in sorted(tally.statuses.items())},
            "errors": tally.errors,
            "complaints": tally.complaints,
            "surfaced": errors if tally.surfaced is None else tally.surfaced,
            "first_length": tally.first_length,
            "other_lengths": tally.other_lengths,
            "bodies": tally.bodies,
            "body_bytes": tally.body_bytes,
            "connections": opened if known else None,
            "connections_why": self._connections.why,
            "warm_up": {
                "requests": before.requests,
                "responses": before.responses,
                "connections": self._opened_before if known else None,
            },
            "latency_us": {str(us): count for us, count in sorted(tally.latency_us.items())},
        }
        json.dump(document, sys.stdout)
        sys.stdout.write("\n")
