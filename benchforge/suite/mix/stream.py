"""The stream of a mix: a pure, seeded function from kinds and feeds to requests."""

import hashlib
import itertools
import json
import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import JsonValue, RootModel

from benchforge.errors import BenchforgeError, TrialFailed
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.suite.mix import flows
from benchforge.suite.mix.drivers import flow_values
from benchforge.suite.mix.feeds import LoadedFeed, Row
from benchforge.suite.mix.flows import Reply, User, unfilled, user_of
from benchforge.suite.mix.holes import Template, Value, Values, expected, holes_of, in_body, in_form
from benchforge.suite.mix.record import StreamRecord
from benchforge.suite.mix.tables import FlowStep, KindRequest, RequestKind, UserSession
from benchforge.suite.secrets import redacted
from benchforge.suite.toml.models import typed
from benchforge.text.readable import exact

VERSION = "benchforge-stream-1"
_FORM = "application/x-www-form-urlencoded"

Exchange = tuple[Request, Expect]
"A request and its right answer."


@dataclass(frozen=True)
class Mix:
    """The mix of a scenario: a pure, seeded function to requests."""

    kinds: Mapping[str, RequestKind]
    feeds: Mapping[str, LoadedFeed]
    "Feeds that the kinds and the session use."
    session: UserSession | None = None
    users: tuple[User, ...] = ()
    "Values of the answers to the logins; empty before them."
    place: int = 0
    "Place among the load tools that divide a load: each has probes of its own."

    @property
    def shares(self) -> Mapping[str, int]:
        """Share of each kind and of each step of a flow, by label."""
        return {row: kind.share for label, kind in self.kinds.items() for row in kind.rows(label)}

    @cached_property
    def rows(self) -> Mapping[str, RequestKind | FlowStep]:
        """Kinds and the steps of flows by label, in the order of their numbers."""
        return {row: row_ for label, k in self.kinds.items() for row, row_ in k.rows(label).items()}

    @cached_property
    def after(self) -> Mapping[str, str]:
        """Step before each later step of a flow, by labels."""
        kinds = self.kinds.items()
        return {row: last for k, kind in kinds for last, row in itertools.pairwise(kind.rows(k))}

    @cached_property
    def thinks(self) -> Mapping[str, float]:
        """Pause before each later step in seconds, by labels."""
        thinking = (
            (k, kind, kind.think) for k, kind in self.kinds.items() if kind.think is not None
        )
        return {row: float(s) for k, kind, s in thinking for row in [*kind.rows(k)][1:]}

    @property
    def flows(self) -> Mapping[str, JsonValue]:
        """Status and taken values of each step, and the mean number of requests of a record."""
        shares = self.shares
        begun = sum(share for label, share in shares.items() if label not in self.after)
        steps = flows.for_load_tools(self.kinds, self.after)
        return {"steps": steps, "requests": sum(shares.values()) / begun}

    @property
    def files(self) -> Mapping[str, str]:
        """Digests of the files of feeds, by a key for each."""
        return {value.key: value.sha256 for value in self.feeds.values() if value.sha256}

    @property
    def whole(self) -> bool:
        """True if all values are at hand: a result does not hold the files of feeds."""
        return all(feed.rows or feed.feed.text is not None for feed in self.feeds.values())

    @property
    def text(self) -> str:
        """Identity of the mix, for the digest of a case."""
        kinds: dict[str, JsonValue] = {}
        for label, kind in self.kinds.items():
            missing = {key for key in ("steps", "think") if not getattr(kind, key)}
            kinds[label] = kind.model_dump(mode="json", exclude=missing)
        feeds = {
            label: [feed.feed.model_dump(mode="json", exclude={"file"}), feed.sha256]
            for label, feed in self.feeds.items()
        }
        session = [] if self.session is None else [self.session.model_dump(mode="json")]
        return json.dumps([list(kinds.items()), feeds, *session], sort_keys=True)

    @cached_property
    def first(self) -> Mapping[str, Exchange]:
        """A request of each kind with its right answer, the same in each run: probes send it."""
        firsts: dict[str, Exchange] = {}
        for label, kind in self.kinds.items():
            values, user = self.probe(label)
            for row, step in kind.rows(label).items():
                if row in self.after:
                    firsts[row] = _open(kind, step, values, user)
                else:
                    firsts[row] = request_of(step, values, user)
        return firsts

    def probe(self, label: str) -> tuple[dict[str, Value], User]:
        """Return the values of a kind's probe, and the user that sends it."""
        user = self.users[0] if self.users else unfilled(self.session)
        number = list(self.kinds).index(label) + self.place * len(self.kinds)
        rows = _probed(self._used(self.kinds[label]), number) | self._probed_session
        return self.values(rows), user

    def followed(self, label: str, replies: Mapping[str, Reply]) -> Exchange:
        """Return the request of a later step. Raises TrialFailed where a value is missing."""
        name = next(name for name, kind in self.kinds.items() if label in kind.rows(name))
        values, user = self.probe(name)
        steps = self.kinds[name].rows(name)
        earlier = itertools.takewhile(lambda row: row != label, steps)
        user = flows.after(user, ((row, steps[row], replies[row]) for row in earlier))
        try:
            request, expect = request_of(steps[label], values, user)
        except ValueError as error:
            raise TrialFailed("ask", f"step {label!r} cannot be sent: {error}") from error
        if steps[label].request.path.startswith("/{"):
            request = request.model_copy(update={"path": flow_values.one_slash(request.path)})
        return request, expect

    @property
    def deck(self) -> list[int]:
        """Numbers of the kinds in the smallest pass that has the shares.

        Decks are dealt, so each prefix of a stream has the shares to within one deck.
        """
        divisor = math.gcd(*self.shares.values())
        begins = [(n, key) for n, key in enumerate(self.shares) if key not in self.after]
        return [n for n, key in begins for _ in range(self.shares[key] // divisor)]

    @property
    def ready(self) -> Exchange:
        """The first request that changes nothing, or the first of all; with users, a login."""
        if self.session is None:
            begins = [first for label, first in self.first.items() if label not in self.after]
            return next((row for row in begins if row[0].method in {"GET", "OPTIONS"}), begins[0])
        return request_of(self.session, self.values(self._probed_session), User({}, {}))

    @property
    def _probed_session(self) -> dict[str, Row]:
        """The rows of the user whose requests probes send: the first, if it is logged in."""
        if self.session is None:
            return {}
        if self.users:
            return dict(self.users[0].rows)
        return _rows_of(self._used(self.session), f"{VERSION}:probe", 1)[0]

    def logins(self, seed: int, block: int) -> Iterator[Exchange]:
        """Yield the login of each user of a block, with its right answer."""
        for rows in self._users(seed, block):
            assert self.session is not None  # noqa: S101 - it has users
            yield request_of(self.session, self.values(rows), User({}, {}))

    def logged_in(self, seed: int, block: int, logins: Sequence[Reply]) -> "Mix":
        """Return the mix with what logins gave. Raises TrialFailed where a value is missing."""
        if self.session is None:
            return self
        pairs = zip(logins, self._users(seed, block), strict=True)
        users = tuple(user_of(self.session, login, rows) for login, rows in pairs)
        return replace(self, users=users)

    def _users(self, seed: int, block: int) -> list[dict[str, Row]]:
        if self.session is None:
            return []
        used = self._used(self.session)
        return _rows_of(used, f"{VERSION}:{seed}:{block}:session", self.session.users)

    def records(self, seed: int, block: int) -> Iterator[StreamRecord]:
        """Yield requests without end. Raises BenchforgeError where `each once` runs out."""
        return (record for record, _ in self.dealt(seed, block, f"{VERSION}:{seed}:{block}"))

    @property
    def monitored(self) -> "Mix":
        """The kinds that a monitor may send: others use feeds whose rows are for the load."""
        of_users = {} if self.session is None else self._used(self.session)
        once = {k for k, feed in self.feeds.items() if feed.feed.order == "each once"} - {*of_users}
        kinds = {k: kind for k, kind in self.kinds.items() if not once & {*self._used(kind)}}
        return replace(self, kinds=kinds)

    def dealt(self, seed: int, block: int, text: str) -> Iterator[tuple[StreamRecord, Values]]:
        """Yield requests without end, each with the values of its holes; `text` is the seed."""
        deck, deal = self.deck, random.Random(text)  # noqa: S311
        draws = {key: feed.draws(text) for key, feed in self.feeds.items()}
        makers = [RequestMaker(step.request) for step in self.rows.values()]
        of_rows = [kind for kind in self.kinds.values() for _ in kind.rows("")]
        used = [[*self._used(kind)] for kind in of_rows]
        users, who = self._users(seed, block), random.Random(f"{text}:users")  # noqa: S311
        session_values = unfilled(self.session)
        while True:
            deal.shuffle(deck)
            for kind in deck:
                number = who.randrange(len(users)) if users else 0
                user = self.users[number] if self.users else session_values
                rows = dict(users[number]) if users else {}
                for key in used[kind]:
                    if key in rows:
                        continue
                    row = next(draws[key], None)
                    if row is None:
                        n = exact(len(self.feeds[key].rows))
                        raise BenchforgeError(f"feed {key!r} has {n} rows, 'each once': it ran out")
                    rows[key] = row
                values = {**self.values(rows), **user.taken}
                head, body = makers[kind].made(values)
                later = makers[kind + 1 : kind + len(of_rows[kind].steps)]
                opened = tuple(maker.open(values, user.cookies) for maker in later)
                yield StreamRecord(kind, head + user.header.encode(), body, opened), values

    def digest(self, seed: int, block: int, records: int) -> tuple[str, tuple[int, ...]]:
        """Return the SHA-256 of the first records, and how many there are of each kind."""
        sha256, counts = hashlib.sha256(), [0] * len(self.shares)
        for record in itertools.islice(self.records(seed, block), records):
            sha256.update(record.framed)
            for kind in record.kinds:
                counts[kind] += 1
        return sha256.hexdigest(), tuple(counts)

    def varies(self, label: str) -> bool:
        """Return True if the requests of a kind have holes, or are of several users."""
        request = self.rows[label].request.model_dump(mode="json")
        return self.session is not None or any(holes_of(request))

    def at(self, number: int) -> "Mix":
        """Return the mix with the probes of one of several load tools, numbered from 0."""
        return replace(self, place=number)

    def hidden(self, secrets: Collection[str]) -> "Mix":
        """Return the mix without secrets in its texts."""
        kinds: dict[str, RequestKind] = {}
        for label, kind in self.kinds.items():
            # As it was written: a kind with all of its fields would have request and steps.
            written = RootModel[JsonValue](kind.model_dump(mode="json", exclude_unset=True))
            kinds[label] = RequestKind.model_validate(redacted(written, secrets).root)
        session = self.session and redacted(self.session, secrets)
        if kinds == self.kinds and session == self.session:
            return self
        return replace(self, kinds=kinds, session=session)

    def _used(self, kind: RequestKind | UserSession) -> dict[str, LoadedFeed]:
        steps = [*kind.rows("").values()] if isinstance(kind, RequestKind) else [kind]
        texts: JsonValue = [[step.request.model_dump(mode="json"), step.expect] for step in steps]
        names = dict.fromkeys(hole.name.partition(".")[0] for hole in holes_of(texts))
        return {label: self.feeds[label] for label in names if label in self.feeds}

    @staticmethod
    def values(rows: Mapping[str, Row]) -> dict[str, Value]:
        """Return the values of holes by their names."""
        values: dict[str, Value] = {}
        for label, row in rows.items():
            if isinstance(row, Mapping):
                values.update((f"{label}.{column}", cell) for column, cell in row.items())
            else:
                values[label] = row
        return values


def _rows_of(feeds: Mapping[str, LoadedFeed], seed: str, users: int) -> list[dict[str, Row]]:
    draws = {label: feed.draws(seed) for label, feed in feeds.items()}
    return [{label: next(rows) for label, rows in draws.items()} for _ in range(users)]


def request_of(kind: RequestKind | FlowStep | UserSession, values: Values, user: User) -> Exchange:
    """Return a request with its right answer. Raises pydantic's ValidationError if it is none."""
    values = {**values, **user.taken}
    request = filled(kind.request, values)
    if line := user.header:
        headers = {**request.headers, "Cookie": line.partition(": ")[2].strip()}
        request = request.model_copy(update={"headers": headers})
    return request, typed(Expect, expected(kind.expect, values))  # type: ignore[arg-type]


def _open(flow: RequestKind, step: RequestKind | FlowStep, values: Values, user: User) -> Exchange:
    values = {**values, **user.taken}
    request = flows.shown(RequestMaker(step.request).open(values, {}))
    answer = expected(step.expect, {**values, **flows.taken_names(flow)})
    return request, typed(Expect, answer)  # type: ignore[arg-type]


def _probed(feeds: Mapping[str, LoadedFeed], number: int) -> dict[str, Row]:
    """Return the rows of a kind's probe: of `each once` from the end, which no load reaches."""
    return {
        label: feed.rows[-1 - number % len(feed.rows)]
        if feed.feed.order == "each once"
        else next(feed.draws(f"{VERSION}:probe:{number}"))
        for label, feed in feeds.items()
    }


class RequestMaker:
    """The templates of a kind's request."""

    def __init__(self, request: KindRequest) -> None:
        headers = with_type(request if request.form is not None else request.framed)
        content_type = next((v for key, v in headers.items() if key.lower() == "content-type"), "")
        self.method, self.path = request.method, Template(request.path, "path")
        self.headers = [(name, Template(value, "header")) for name, value in headers.items()]
        self.form = None if request.form is None else in_form(request.form)
        text = request.body
        self.body = None if text is None else in_body(text, content_type.lower())

    def made(self, values: Values) -> tuple[bytes, bytes]:
        """Return head and body with a record's values."""
        lines = [f"{self.method} {self.path.fill(values)} HTTP/1.1"]
        lines += [f"{name}: {template.fill(values)}" for name, template in self.headers]
        body = None if (text := self.body_text(values)) is None else text.encode()
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n").encode(), body or b""

    def open(self, values: Values, cookies: Mapping[str, str]) -> bytes:
        """Return a later step as load tools read it: open holes stand between its texts."""
        headers = [(name, template.left(values)) for name, template in self.headers]
        body = None if self.body is None else self.body.left(values)
        if self.form is not None:
            body = []
            for name, template in self.form:
                body += [f"{'&' if body else ''}{name}=", *template.left(values)]
        step: dict[str, object] = {"method": self.method, "path": self.path.left(values)}
        step |= {"headers": headers, "body": body, "cookies": cookies}
        return json.dumps(step, separators=(",", ":")).encode()

    def body_text(self, values: Values) -> str | None:
        """Return the body with a record's values; None without one."""
        if self.form is not None:
            return "&".join(f"{name}={template.fill(values)}" for name, template in self.form)
        return None if self.body is None else self.body.fill(values)


def with_type(request: KindRequest) -> dict[str, str]:
    """Return the headers of a request, with the type of a form."""
    headers = dict(request.headers)
    if request.form is not None and "content-type" not in {name.lower() for name in headers}:
        headers["Content-Type"] = _FORM
    return headers


def filled(request: KindRequest, values: Values) -> Request:
    """Return a request with its holes filled. Raises pydantic's ValidationError if it is none."""
    texts = with_type(request).items()
    headers = {name: Template(text, "header").fill(values) for name, text in texts}
    path, body = Template(request.path, "path"), RequestMaker(request).body_text(values)
    written: dict[str, JsonValue] = {"method": request.method, "path": path.fill(values)}
    return typed(Request, {**written, "headers": {**headers}, "body": body})
