"""Scenarios with several kinds of requests: their mixes, and what is wrong with them."""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path as File
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from benchforge.model.trial.answers.answer import Request
from benchforge.parts.part import Driver
from benchforge.suite.declared import LABEL
from benchforge.suite.mix.feeds import LoadedFeed, WrongFile, loaded
from benchforge.suite.mix.flows import taken_names
from benchforge.suite.mix.holes import Hole, holes_of
from benchforge.suite.mix.record import MOST, amount
from benchforge.suite.mix.stream import Exchange, Mix, request_of, with_type
from benchforge.suite.mix.tables import Feed, FlowStep, RequestKind, UserSession
from benchforge.suite.scenarios.search import rated
from benchforge.suite.scenarios.turns import turns_of
from benchforge.suite.suite import Declared, Parts, Repeat, Scenario
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Nearest
from benchforge.suite.toml.models import checked, findings
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import counted, exact

_EXCLUSIVE = {
    "request": "each kind has its own",
    "requests": "each kind has its own request",
    "expect": "each kind has its own",
    "expects": "each kind has its own right answer",
    "clients": "a client sends one request again and again",
}
_ONCE, _RANDOM = "each once", 'order = "random"'
_FLOW_TAKERS = "pace and k6 take them"
_TAKERS = "pace, wrk, wrk2, k6 and locust take them; h2load, if all are GET with the same headers"
_PATH, _HEADER, _WHOLE = r"[!-~]*", r"[\t -~]*", r"\s*[+-]?\d{1,18}\s*"

_Table = RequestKind | FlowStep | UserSession


def workloads_of(
    tables: Mapping[str, Tables],
    scenarios: Mapping[str, Scenario],
    parts: Parts,
    repeat: Repeat,
    folder: File | None,
    digests: Mapping[str, str],
) -> Checked[dict[str, Mix]]:
    """Return the mix of each sound scenario with kinds; without `folder`, `digests` has the files'.

    `tables` are those of feeds.
    """
    feeds = yield from _feeds(tables, folder, digests)
    workloads: dict[str, Mix] = {}
    for label, scenario in scenarios.items():
        kinds = yield from _kinds(("scenarios", label, "kinds"), scenario)
        if not kinds or len(kinds) < len(scenario.kinds):
            continue
        session = yield from _session(("scenarios", label, "session"), scenario, tables)
        if scenario.session is not None and session is None:
            continue
        mix = _Reading(("scenarios", label), scenario, kinds, tuple(tables), feeds, session)
        faults = [*mix.faults(repeat), *mix.driver_faults(parts["loaders"], repeat)]
        yield from faults
        if not faults and all(name in feeds for name in mix.names):
            workloads[label] = mix.made()
    return workloads


def _feeds(
    tables: Mapping[str, Tables], folder: File | None, digests: Mapping[str, str]
) -> Checked[dict[str, LoadedFeed]]:
    feeds: dict[str, LoadedFeed] = {}
    for label, table in tables.items():
        feed = yield from checked(Feed, table, ("feeds", label))
        if feed is None:
            continue
        try:
            loaded_feed = loaded(label, feed, folder)
        except WrongFile as error:
            yield Fault(("feeds", label, "file"), error.message, error.hint)
            continue
        sha256 = digests.get(loaded_feed.key, "") if folder is None else loaded_feed.sha256
        feeds[label] = LoadedFeed(label, feed, loaded_feed.rows, sha256)
    return feeds


def _kinds(path: Path, scenario: Scenario) -> Checked[dict[str, RequestKind]]:
    kinds: dict[str, RequestKind] = {}
    for label, table in scenario.kinds.items():
        if not LABEL.fullmatch(label):
            yield Fault((*path, label), "not a label", "use letters, digits, '_' and '-'")
            continue
        kind = yield from checked(RequestKind, table, (*path, label))
        if kind is not None:
            kinds[label] = kind
    return kinds


def _session(path: Path, scenario: Scenario, feeds: Container[str]) -> Checked[UserSession | None]:
    if scenario.session is None:
        return None
    session = yield from checked(UserSession, scenario.session, path)
    for name in session.take if session is not None else ():
        if name in feeds:
            problem = f"{name!r} is the label of a feed, too"
            yield Fault((*path, "take", name), problem, "give one of them another name")
    return session


class _Reading(NamedTuple):
    """A scenario with kinds, and the feeds of its suite."""

    at: tuple[str, str]
    scenario: Scenario
    kinds: Mapping[str, RequestKind]
    declared: Sequence[str]
    "Labels of all feeds of the suite."
    feeds: Mapping[str, LoadedFeed]
    "Feeds that are sound."
    session: UserSession | None

    def made(self) -> Mix:
        """Return the mix."""
        return Mix(self.kinds, {label: self.feeds[label] for label in self.names}, self.session)

    @property
    def names(self) -> list[str]:
        """Labels of the feeds that it uses, in the order of the suite."""
        used = {hole.name.partition(".")[0] for _, _, hole in self._holes()}
        return [label for label in self.declared if label in used]

    def faults(self, repeat: Repeat) -> Iterator[Fault]:
        """Yield what is wrong with its keys, its holes and its first requests."""
        yield from self._key_faults(repeat)
        yield from self._take_faults()
        wrong = [each for path, _, hole in self._holes() for each in self._hole_faults(path, hole)]
        yield from wrong
        if not wrong and all(name in self.feeds for name in self.names):
            yield from self._value_faults()

    def _key_faults(self, repeat: Repeat) -> Iterator[Fault]:
        scenario, fields_set = self.scenario, self.scenario.model_fields_set
        for key, reason in _EXCLUSIVE.items():
            if key in fields_set and getattr(scenario, key) not in (None, "off", ()):
                message = f"{key} and kinds exclude each other: {reason}"
                yield Fault((*self.at, key), message, "leave it out")
        if turns_of(scenario, repeat) is not None and (flow := self._first_flow()):
            hint = f'set scenarios.{self.at[1]}.interleave = "off"'
            yield Fault((*self.at, "kinds", flow), "a flow cannot pause between its steps", hint)
        for subpath, path in scenario.varied_paths():
            if path.startswith("path."):
                hint = "use a feed instead, such as [feeds.size] with values = [1, 2]"
                yield Fault((*self.at, *subpath), "kinds have no variables of a path", hint)

    def _take_faults(self) -> Iterator[Fault]:
        of_session = () if self.session is None else self.session.take
        for label, kind in self.kinds.items():
            for number, step in enumerate(kind.steps):
                path = (*self.at, "kinds", label, "steps", number, "take")
                used = {name for later in kind.steps[number + 1 :] for name in _named(later)}
                for name in step.take:
                    if name in self.declared or name in of_session:
                        owner = "the label of a feed" if name in self.declared else "of the session"
                        hint = "give one of them another name"
                        yield Fault((*path, name), f"{name!r} is {owner}, too", hint)
                    elif name not in used:
                        flaw = f"no later step of {label!r} uses {{{name}}}"
                        yield Fault((*path, name), flaw, "use it in a later step, or leave it out")

    def _holes(self) -> Iterator[tuple[Path, str, Hole]]:
        """Yield each hole with its place, and in what it stands: path, headers, body, expect."""
        for path, kind in self._tables:
            for key in ("path", "headers", "body", "form"):
                value: JsonValue = kind.request.model_dump(mode="json")[key]
                yield from (((*path, "request", key), key, hole) for hole in holes_of(value))
            yield from (((*path, "expect"), "expect", hole) for hole in holes_of(kind.expect))

    @property
    def _tables(self) -> list[tuple[Path, _Table]]:
        tables: list[tuple[Path, _Table]] = []
        for label, kind in self.kinds.items():
            path = (*self.at, "kinds", label)
            tables += [((*path, "steps", n), step) for n, step in enumerate(kind.steps)]
            tables += [] if kind.steps else [(path, kind)]
        if self.session is not None:
            tables.append(((*self.at, "session"), self.session))
        return tables

    def _takes(self, hole: Hole) -> bool:
        return self.session is not None and hole.name in self.session.take

    def _takers(self, path: Path, hole: Hole) -> list[int]:
        steps, _ = self._flow(path)
        return [n for n, step in enumerate(steps) if hole.name in step.take]

    def _flow(self, path: Path) -> tuple[Sequence[FlowStep], int]:
        _, label, *rest = path[len(self.at) :]
        if not rest or rest[0] != "steps":
            return (), 0
        return self.kinds[str(label)].steps, int(str(rest[1]))

    def _hole_faults(self, path: Path, hole: Hole) -> Iterator[Fault]:
        name, _, column = hole.name.partition(".")
        subject = f"hole {hole.written!r}"
        if self._takes(hole):
            if path[len(self.at)] == "session":
                flaw = f"{subject}: the login itself takes it from its answer"
                yield Fault(path, flaw, "use it in kinds")
            elif hole.form == "integer":
                flaw = f"{subject}: what a login gave is a text"
                yield Fault(path, flaw, f"write {{{name}}}")
        elif takers := self._takers(path, hole):
            steps, number = self._flow(path)
            if takers[0] >= number:
                taker, is_same_step = steps[takers[0]].name, takers[0] == number
                when = "from its own answer" if is_same_step else "later"
                flaw = f"{subject}: step {taker!r} takes it {when}"
                yield Fault(path, flaw, f"use it in a step behind {taker!r}")
        elif name not in self.declared:
            steps, number = self._flow(path)
            taken = [name for step in steps[:number] for name in step.take]
            names = [*self.declared, *taken]
            flaw = "no feed has that name" + (", and no step before takes it" if steps else "")
            says = "there are" if taken else "feeds"
            hint = Nearest(name, names, says) if names else f"write [feeds.{name}]"
            yield Fault(path, f"{subject}: {flaw}", hint)
        elif name in self.feeds and (self.feeds[name].feed.file is not None or column):
            columns = self.feeds[name].columns
            if not columns and self.feeds[name].feed.file is None:
                yield Fault(path, f"{subject}: feed {name!r} has no columns", f"write {{{name}}}")
            elif columns and column not in columns:
                names = [f"{name}.{column}" for column in columns]
                flaw = "feed has no such column" if column else f"feed {name!r} has several columns"
                yield Fault(path, f"{subject}: {flaw}", Nearest(hole.name, names, "it has"))

    def _value_faults(self) -> Iterator[Fault]:
        wrong = list(self._unfit())
        yield from wrong
        if wrong or not self.made().whole:
            return
        feeds = {label: self.feeds[label] for label in self.names}
        for path, kind in self._tables:
            try:
                request, expect = self._first(path, kind, feeds)
            except ValidationError as error:
                table = kind.expect if error.title == "Expect" else kind.request.model_dump()
                key = "expect" if error.title == "Expect" else "request"
                for finding in findings(error, table):
                    yield Fault((*path, key, *finding.path), finding.message, finding.hint)
                continue
            if expect.same_body:
                body_path = (*path, "expect", "same_body")
                yield Fault(body_path, "it does not know kinds yet", "leave it out")
            if reason := expect.conflict({request.method}):
                yield Fault((*path, "expect"), reason)
            if request.body is not None and _is_json(kind):
                try:
                    json.loads(request.body)
                except ValueError as error:
                    problem = f"the body is not JSON once its holes are filled: {error}"
                    hint = "a brace before a name is written {{"
                    yield Fault((*path, "request", "body"), problem, hint)

    def _first(self, path: Path, table: _Table, feeds: Mapping[str, LoadedFeed]) -> Exchange:
        """Return a request with its right answer; numbers stand for what answers give."""
        if isinstance(table, UserSession):
            return self.made().ready
        label = str(path[len(self.at) + 1])
        values, user = Mix({label: self.kinds[label]}, feeds, self.session).probe(label)
        return request_of(table, {**values, **taken_names(self.kinds[label])}, user)

    def _unfit(self) -> Iterator[Fault]:
        for path, key, hole in self._holes():
            name, _, column = hole.name.partition(".")
            if self._takes(hole) or self._takers(path, hole):
                continue
            table = dict(self._tables)[path[:-1]].expect if path[-1] == "expect" else {}
            numbers = json.dumps([table.get(key) for key in ("status", "items", "length")])
            rule = _WHOLE if hole.form == "integer" or hole.written in numbers else None
            if rule is None and (key == "headers" or (key == "path" and hole.form == "raw")):
                rule = _HEADER if key == "headers" else _PATH
            feed, rows = self.feeds[name].feed, self.feeds[name].rows
            if rule is None or feed.integers is not None:
                continue
            if feed.text is not None and rule == _HEADER:
                continue
            texts = (str(row[column] if isinstance(row, Mapping) else row) for row in rows)
            bad = next((text for text in texts if not re.fullmatch(rule, text)), None)
            if feed.text is not None or bad is not None:
                value_text = "a text" if bad is None else f"{bad[:40]!r}"
                fitting = f"possible in a {key.removesuffix('s')}"
                requirement = "a whole number" if rule == _WHOLE else fitting
                yield Fault(path, f"hole {hole.written!r}: {value_text} is not {requirement}")

    def driver_faults(self, loaders: Mapping[str, Declared], repeat: Repeat) -> Iterator[Fault]:
        """Yield the load tools that cannot send the mix, and feeds that would run out."""
        kinds = counted(len(self.scenario.kinds), "kind")
        for number, label in enumerate(self.scenario.loaders):
            driver = loaders[label].part if label in loaders else None
            if not isinstance(driver, Driver):
                continue
            path = (*self.at, "loaders", number)
            if reason := driver.why_no_kinds(self._requests):
                flaw = f"{label!r} {reason}, and {self.at[1]} has {kinds}"
                yield Fault(path, flaw, _FLOW_TAKERS if self._first_flow() else _TAKERS)
            elif (flow := self._first_flow()) and (reason := driver.why_no_flows(self._taken)):
                flaw = f"{label!r} {reason}, and kind {flow!r} has steps"
                hint = f"{_FLOW_TAKERS}; or make the first step a session, before the load"
                yield Fault(path, flaw, hint)
            elif driver.interrupted_by and turns_of(self.scenario, repeat) is not None:
                flaw = f"{label!r} is counted by its bytes in turns, and {self.at[1]} has {kinds}"
                hint = f'use pace, or set scenarios.{self.at[1]}.interleave = "off"'
                yield Fault(path, flaw, hint)
            else:
                find = self.scenario.find
                most = driver if find is None else rated(driver, float(find.rate[1]), 1)
                yield from self._once_faults(path, most, repeat)

    @property
    def _requests(self) -> dict[str, Request]:
        requests: dict[str, Request] = {}
        for label, kind in self.kinds.items():
            for row, step in kind.rows(label).items():
                request, headers = step.request, with_type(step.request)
                if self.session is not None:
                    headers["Cookie"] = "{session}"
                body = "&".join(request.form) if request.form is not None else request.body
                requests[row] = request.model_copy(update={"headers": headers, "body": body})
        return requests

    @property
    def _taken(self) -> list[str]:
        steps = [step for kind in self.kinds.values() for step in kind.steps]
        return [where for step in steps for where in step.take.values()]

    def _first_flow(self) -> str:
        return next((label for label, kind in self.kinds.items() if kind.steps), "")

    def _once_faults(self, path: Path, tool: Driver, repeat: Repeat) -> Iterator[Fault]:
        of_users = set() if self.session is None else _named(self.session)
        for name in self.names:
            feed = self.feeds.get(name)
            if feed is None or feed.feed.order != _ONCE or not feed.rows:
                continue
            says = f"feed {name!r} has {exact(len(feed.rows))} rows, {_ONCE!r}"
            if self.session is not None and name in of_users:
                if self.session.users > len(feed.rows):
                    path = (*self.at, "session", "users")
                    yield Fault(path, f"{says}: fewer than users", _RANDOM)
                continue
            if float(repeat.warmup):
                flaw = f"{says}, and a warm-up would take them first"
                yield Fault(("repeat", "warmup"), flaw, _RANDOM)
            ends = tool.load().rate is not None or isinstance(getattr(tool, "requests", None), int)
            mix = Mix(self.kinds, {})
            deck, rows = mix.deck, list(mix.shares)
            using = {
                rows.index(next(iter(kind.rows(label))))
                for label, kind in self.kinds.items()
                if any(name in _named(row) for row in kind.rows(label).values())
            }
            most = -(-amount(tool) // len(deck)) * sum(kind in using for kind in deck)
            if not ends or amount(tool) >= MOST:
                hint = f"{_RANDOM}, or requests = 200"
                yield Fault(path, f"{says}, and the load may take any number", hint)
            elif most + len(using) > len(feed.rows):
                hint = f"{_RANDOM}, or fewer requests; {counted(len(using), 'row')} are for probes"
                yield Fault(path, f"{says}, and the load takes up to {exact(most)}", hint)


def _named(kind: _Table) -> set[str]:
    texts: JsonValue = [kind.request.model_dump(mode="json"), kind.expect]
    return {hole.name.partition(".")[0] for hole in holes_of(texts)}


def _is_json(kind: _Table) -> bool:
    headers = with_type(kind.request).items()
    return any("json" in value.lower() for key, value in headers if key.lower() == "content-type")
