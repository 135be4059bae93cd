"""Recognition of a mix's requests: the kind, and the values of its holes."""

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from benchforge.model.trial.answers.answer import Expect
from benchforge.suite.mix.flows import User
from benchforge.suite.mix.holes import Value, Written, expected, holes_of
from benchforge.suite.mix.stream import Mix, RequestMaker
from benchforge.suite.mix.tables import FlowStep, RequestKind
from benchforge.suite.toml.models import typed

_MOST_ROWS = 200_000


class SentRequest(NamedTuple):
    """A request of a load; headers by their names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: str


class Recognizer:
    """Tells what is right for a request of a mix, whose users are logged in."""

    def __init__(self, mix: Mix) -> None:
        self._mix = mix
        self._kinds = [_Kind(label, row) for label, row in mix.rows.items()]
        self._rows: dict[str, _Rows] = {}

    def expects(self, sent: SentRequest) -> Iterator[tuple[str, Expect | None]]:
        """Yield label and right answer of each kind that it may be; None if that is unknown."""
        fits = [(kind, holes) for kind in self._kinds if (holes := kind.read(sent)) is not None]
        closest = max((kind.literal for kind, _ in fits), default=0)
        for kind, holes in fits:
            if kind.literal < closest:
                continue
            expect = None
            with contextlib.suppress(ValueError):  # a load tool has sent what no value gives
                values = self._values(kind, holes, sent.headers.get("cookie", ""))
                if values is not None:
                    table = expected(kind.row.expect, values)
                    expect = typed(Expect, table)  # type: ignore[arg-type]
            yield kind.label, expect

    def _values(self, kind: "_Kind", holes: list[Written], cookies: str) -> dict[str, Value] | None:
        values: dict[str, Value] = {}
        written = {hole.name: hole for hole in holes}
        users: list[dict[str, Value]] | None = None
        for name in kind.needed:
            feed = name.partition(".")[0]
            if name in written and feed not in self._mix.feeds:
                values[name] = written[name].value
                continue
            if users is None:
                users = [self._of_user(user) for user in self._users(holes, cookies)]
            choices = {user[name] for user in users if name in user}
            if not choices and name in written:
                choices = {written[name].value}
            if not choices and feed in self._mix.feeds:
                choices = self._feed(feed).values(name, holes)
            if len(choices) != 1:
                return None
            values[name] = choices.pop()
        return values

    def _users(self, holes: list[Written], cookies: str) -> Iterator[User]:
        pairs = {pair.strip() for pair in cookies.split(";")}
        for user in self._mix.users:
            if not pairs.issuperset(f"{name}={value}" for name, value in user.cookies.items()):
                continue
            values = self._of_user(user)
            named = [hole for hole in holes if hole.name in values]
            if all(hole.written(values[hole.name]) == hole.text for hole in named):
                yield user

    def _of_user(self, user: User) -> dict[str, Value]:
        return {**self._mix.values(user.rows), **user.taken}

    def _feed(self, label: str) -> "_Rows":
        if label not in self._rows:
            rows = self._mix.feeds[label].rows
            few = [] if len(rows) > _MOST_ROWS else rows
            self._rows[label] = _Rows([self._mix.values({label: row}) for row in few])
        return self._rows[label]


class _Kind:
    def __init__(self, label: str, row: RequestKind | FlowStep) -> None:
        self.label, self.row, self._maker = label, row, RequestMaker(row.request)
        # Load tools may write others in their own way.
        self._headers = {key.lower(): v for key, v in self._maker.headers if v.constant is None}
        self._body = [] if self._maker.body is None else [self._maker.body]

    @cached_property
    def needed(self) -> frozenset[str]:
        """Names of the holes of its right answer."""
        return frozenset(hole.name for hole in holes_of(self.row.expect))

    @cached_property
    def literal(self) -> int:
        """Number of characters of path and body that are the same in each request."""
        form = [template for _, template in self._maker.form or ()]
        return sum(template.literal for template in (self._maker.path, *self._body, *form))

    def read(self, sent: SentRequest) -> list[Written] | None:
        """Return what stands in the holes of a request; None if it is of another kind."""
        maker = self._maker
        if sent.method != maker.method:
            return None
        pairs = [(maker.path, sent.target), *((template, sent.body) for template in self._body)]
        if maker.form is not None:
            fields = [field.partition("=") for field in sent.body.split("&")]
            if [name for name, _, _ in fields] != [name for name, _ in maker.form]:
                return None
            texts = (text for _, _, text in fields)
            pairs += zip((template for _, template in maker.form), texts, strict=True)
        pairs += [(text, sent.headers.get(name, "")) for name, text in self._headers.items()]
        read = [template.read(text) for template, text in pairs]
        if any(holes is None for holes in read):
            return None
        return [hole for holes in read if holes is not None for hole in holes]


class _Rows:
    def __init__(self, rows: list[dict[str, Value]]) -> None:
        self._rows = rows
        self._numbers: dict[tuple[str, str], dict[str, set[int]]] = {}

    def values(self, name: str, holes: list[Written]) -> set[Value]:
        """Return what a column may be, given what stands in the holes of others."""
        numbers: set[int] | None = None
        for hole in holes:
            if self._rows and hole.name in self._rows[0]:
                fitting = self._fitting(hole)
                numbers = fitting if numbers is None else numbers & fitting
        return {self._rows[number][name] for number in numbers or ()}

    def _fitting(self, hole: Written) -> set[int]:
        key = hole.name, hole.place
        if key not in self._numbers:
            by_text: dict[str, set[int]] = defaultdict(set)
            for number, row in enumerate(self._rows):
                by_text[hole.written(row[hole.name])].add(number)
            self._numbers[key] = by_text
        return self._numbers[key].get(hole.text, set())
