"""A suite's cases: every part at its point of the matrix."""

from array import array
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel

from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.model.values.case_name import CaseName, Role
from benchforge.parts.part import Backend, Driver, Server
from benchforge.suite.cases.case import Case, CasePart, PartT, as_text, digest, template
from benchforge.suite.matrix import (
    Matrix,
    Point,
    Projection,
    Varied,
    about,
    filled,
    part_at,
    variables,
)
from benchforge.suite.scenarios.references import behind, leading, reached
from benchforge.suite.scenarios.search import find_of
from benchforge.suite.scenarios.turns import turns_of
from benchforge.suite.suite import Declared, Suite


class Group(Protocol):
    """The cases of one scenario, numbered from 0."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Case: ...

    def declared_s(self, number: int, /) -> float:
        """Return what the suite declares for one trial of a case, which is not made for that."""
        ...


class Cases:
    """The cases of all scenarios, one scenario after the other, numbered from 0."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = tuple(groups)
        self.starts = tuple(accumulate(map(len, groups), initial=0))
        "The number of each group's first case; the last is that of all cases."

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, number: int) -> Case:
        if not 0 <= number < len(self):
            raise IndexError(number)
        group = bisect(self.starts, number) - 1
        return self.groups[group][number - self.starts[group]]

    def __iter__(self) -> Iterator[Case]:
        return (group[number] for group in self.groups for number in range(len(group)))


def expand(suite: Suite) -> Cases:
    """Return the cases by scenario, point, driver (loaders before clients) and server.

    Points that differ in nothing that a case uses make one case. The arm distinguishes cases that
    differ in labels alone, and the placebo, which comes last.
    """
    return Cases([_Scenario(suite, label) for label in suite.scenarios])


def named(suite: Suite, label: str) -> Iterator[CaseName]:
    """Yield the names of a scenario's cases, without what they are: digest and arm."""
    scenario = _Scenario(suite, label)
    return (scenario.name(number) for number in range(len(scenario)))


_Parts = Mapping[str, Varied[CasePart[PartT]]]
"Parts of a table by label."


class _Pair(NamedTuple):
    """A driver and a server."""

    place: str
    "The driver's table."
    name: CaseName
    "Name that its cases share."


def _text_of(expect: Expect) -> str:
    """Return a right answer as digests take it: those of before its youngest key stay the same."""
    exclude = {"body_matches"} if expect.body_matches is None else None
    return as_text(expect.model_dump(mode="json", exclude=exclude))


class _Scenario:
    """The cases of a scenario. Held are two numbers of each: its point's and its pair's."""

    def __init__(self, suite: Suite, label: str) -> None:
        self._suite = suite
        self._label = label
        self._scenario = scenario = suite.scenarios[label]
        self._matrix = matrix = Matrix(scenario)
        drivers = [("loaders", loader) for loader in scenario.loaders]
        drivers += [("clients", client) for client in scenario.clients]
        shared: dict[str, Any] = {"vary": {}, "digest": "", "arm": 1, "placebo": False}
        self._pairs = pairs = [
            _Pair(table, CaseName(scenario=label, server=server, driver=driver, **shared))
            for table, driver in drivers
            for server in scenario.servers
        ]
        servers = (*scenario.servers, *reached(scenario, suite.servers).labels)
        self._servers: _Parts[Server] = self._parts("servers", suite.servers, servers)
        self._backends: _Parts[Backend] = self._parts("backends", suite.backends, scenario.backends)
        self._drivers: dict[str, _Parts[Driver]] = {
            "loaders": self._parts("loaders", suite.loaders, scenario.loaders),
            "clients": self._parts("clients", suite.clients, scenario.clients),
        }
        led = leading(scenario, suite.servers)
        self._behind = {
            server: Varied(self._matrix, led, partial(behind, suite.servers[server], suite.servers))
            for server in scenario.servers
        }
        self._concerned = [Varied(matrix, led, partial(self._concerning, pair)) for pair in pairs]
        self._requests = {server: self._request(server) for server in scenario.servers}
        self._workload = mix = suite.workloads.get(label)
        self._lead = mix.ready if mix is not None and mix.whole else None
        self._warm_up_s = float(suite.repeat.warmup)
        self._metrics = tuple(suite.metrics) if scenario.metrics is None else scenario.metrics
        self._points = array("Q")
        self._pair = array("L")
        for point, pair in self._first_points():
            self._points.append(point)
            self._pair.append(pair)
        self._turns = turns_of(scenario, suite.repeat)
        self._find = find_of(scenario, suite.loaders, suite.metrics)
        # Of a search there is no placebo: it has no values of blocks that could be compared.
        wanted = suite.repeat.placebo and self._find is None and label not in suite.bridges
        self._placebo = len(self._points) if wanted and self._points else None
        if self._placebo is not None:
            # The first case once more: nothing but its arm tells the two apart.
            self._points.append(self._points[0])
            self._pair.append(self._pair[0])

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, number: int) -> Case:
        point, pair = self._points[number], self._pairs[self._pair[number]]
        digests, arms = self._identities
        request = self._requests[pair.name.server].at(point)[0]
        expect = self._scenario.right(pair.name.server)
        if self._lead is not None:
            request, expect = self._lead
        behind_it = self._behind[pair.name.server].at(point)
        backends = tuple([(label, part.at(point).part) for label, part in self._backends.items()])
        return Case(
            name=self.name(number, f"{digests[number]:016x}", arms[number]),
            server=self._servers[pair.name.server].at(point).part,
            upstreams=tuple([(label, self._servers[label].at(point).part) for label in behind_it]),
            backends=backends,
            driver=self._drivers[pair.place][pair.name.driver].at(point).part,
            request=request,
            expect=expect,
            workload=self._workload,
            metrics=self._metrics,
            warm_up_s=self._warm_up_s,
            tuning=self._suite.tuning,
            monitor=self._scenario.monitored(request) if self._turns is None else None,
            find=self._find,
            turns=self._turns,
            hosts=self._hosts(pair, point) if self._suite.hosts else {},
            blocks=self._scenario.blocks,
            bridge=self._label in self._suite.bridges,
            once=self._scenario.latency_of is not None,
        )

    def declared_s(self, number: int) -> float:
        """Return what the suite declares for one trial of a case, in seconds."""
        if self._turns is not None:
            return self._warm_up_s + self._turns.each_s
        pair = self._pairs[self._pair[number]]
        driver = self._drivers[pair.place][pair.name.driver].at(self._points[number])
        return self._warm_up_s + driver.load_s

    def _hosts(self, pair: _Pair, point: int) -> Mapping[str, str]:
        """Return the host of each process; the second load tool and so on has its host's name."""
        suite, hosts = self._suite, dict[str, str]()
        driver = f"{pair.place.removesuffix('s')}-{pair.name.driver}"
        parts: list[tuple[Role, str, Declared]] = [
            ("server", f"server-{pair.name.server}", suite.servers[pair.name.server]),
            ("loader", driver, getattr(suite, pair.place)[pair.name.driver]),
        ]
        behind_it = self._behind[pair.name.server].at(point)
        parts.extend(("upstream", f"upstream-{k}", suite.servers[k]) for k in behind_it)
        parts.extend(("backend", f"backend-{k}", suite.backends[k]) for k in self._backends)
        for role, name, part in parts:
            for host in suite.hosts_of(role, part):
                hosts[f"{host}-{name}" if name in hosts else name] = host
        return hosts

    def name(self, number: int, digest: str = "", arm: int = 1) -> CaseName:
        """Return what a case is called, and what it is: its digest and arm."""
        point, pair = self._points[number], self._pairs[self._pair[number]]
        vary = self._matrix.point(point, self._concerned[self._pair[number]].at(point))
        return pair.name.like(vary=vary, digest=digest, arm=arm, placebo=number == self._placebo)

    def _parts(self, kind: str, parts: Mapping[str, Declared], names: Iterable[str]) -> _Parts[Any]:
        # Load has seen to it that each table holds parts of its kind.
        def at_point(declared: Declared, point: Point) -> CasePart[Any]:
            return CasePart(part_at(declared, kind, point), self._suite, declared.host)

        paths = {label: about(self._scenario, kind, parts[label]) for label in names}
        return {k: Varied(self._matrix, paths[k], partial(at_point, parts[k])) for k in paths}

    def _request(self, server: str) -> Varied[tuple[Request, str]]:
        written = self._scenario.requests.get(server, self._scenario.request)

        def request_at(point: Point) -> tuple[Request, str]:
            request, _ = filled(written, point)
            return request, as_text(request)

        return Varied(self._matrix, [f"path.{name}" for name in variables(written)], request_at)

    def _first_points(self) -> Iterator[tuple[int, int]]:
        projections: dict[frozenset[str], Projection] = {}
        made: dict[tuple[int, frozenset[str]], bytearray] = {}
        for point in self._matrix.numbers():
            for number, of_pair in enumerate(self._concerned):
                concerned = of_pair.at(point)
                if (number, concerned) not in made:
                    projections.setdefault(concerned, Projection(self._matrix, concerned))
                    made[number, concerned] = bytearray(projections[concerned].size)
                key = projections[concerned].key(point)
                if not made[number, concerned][key]:
                    made[number, concerned][key] = True
                    yield point, number

    def _concerning(self, pair: _Pair, point: Point) -> frozenset[str]:
        suite, scenario = self._suite, self._scenario
        upstreams = behind(suite.servers[pair.name.server], suite.servers, point)
        drivers = suite.loaders if pair.place == "loaders" else suite.clients
        parts = [
            (pair.place, drivers[pair.name.driver]),
            *(("servers", suite.servers[label]) for label in (pair.name.server, *upstreams)),
            *(("backends", suite.backends[label]) for label in scenario.backends),
        ]
        request = scenario.requests.get(pair.name.server, scenario.request)
        paths = frozenset(f"path.{name}" for name in variables(request))
        return paths.union(*(about(scenario, table, part) for table, part in parts))

    @cached_property
    def _identities(self) -> tuple["array[int]", "array[int]"]:
        suite = self._suite
        texts = {"warm_up_s": as_text(self._warm_up_s), "tuning": as_text(suite.tuning)}
        by_key: dict[str, BaseModel | str | None] = {"find": self._find, "turns": self._turns}
        by_key["placement"] = None if suite.placement == "off" else suite.placement
        by_key["hosts"] = suite.hosts_by_role if any(dict(suite.hosts_by_role).values()) else None
        texts |= {key: as_text(value) for key, value in by_key.items() if value is not None}
        if self._workload is not None:
            texts["workload"] = self._workload.text
        text = template(texts, "backends", "driver", "expect", "request", "server")
        digests, arms = array("Q"), array("L")
        arms_: dict[int, int] = {}
        drivers = [self._drivers[pair.place][pair.name.driver].at for pair in self._pairs]
        requests = [self._requests[pair.name.server].at for pair in self._pairs]
        expects = [_text_of(self._scenario.right(pair.name.server)) for pair in self._pairs]
        for point, number in zip(self._points, self._pair, strict=True):
            backends = ", ".join([f"[{value.at(point).text}]" for value in self._backends.values()])
            server = self._text_of_server(self._pairs[number].name.server, point)
            driver, (_, request) = drivers[number](point).text, requests[number](point)
            expect = expects[number]
            identity = digest(text % (f"[{backends}]", f"[{driver}]", expect, request, server))
            arm = arms_[identity] = arms_.get(identity, 0) + 1
            digests.append(identity)
            arms.append(arm)
        return digests, arms

    def _text_of_server(self, label: str, point: int) -> str:
        server = self._servers[label].at(point)
        if not (upstreams := server.part.upstreams()):
            return f"[{server.text}]"
        behind_it = [self._text_of_server(upstream, point) for upstream in upstreams]
        return f"[{', '.join([server.text, *behind_it])}]"
