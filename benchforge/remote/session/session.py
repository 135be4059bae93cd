"""Connected hosts: what they are, whether their parts lack anything, and the links between."""

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import JsonValue

from benchforge.errors import NoAnswer, ProgramMissing, Unusable
from benchforge.model.files.result import hard
from benchforge.model.trial.hosts import HostFacts, HostLink
from benchforge.remote import wire
from benchforge.remote.agent.links import measured
from benchforge.remote.agent.place import Place, names_of
from benchforge.remote.answers import BUILDS_WITHIN_S, Prepared, T
from benchforge.remote.archive import Archive, archive, code_digest
from benchforge.remote.calls import BOOTS_WITHIN_S, Losses, PipeConnection
from benchforge.remote.session.host_share import HostShare, share_of
from benchforge.run.checkout import checked_out
from benchforge.run.programs.runtimes import Ready
from benchforge.run.trial.context import TrialContext, TrialInputs, ground, needs_of
from benchforge.suite.cases.case import Case, code_digests
from benchforge.suite.cases.parts import distinct_parts
from benchforge.suite.plan import RunGraph
from benchforge.suite.secrets import redact
from benchforge.suite.suite import Suite
from benchforge.text import safe
from benchforge.text.readable import conjoined

_LINK_S, _BRIEF_LINK_S = 0.5, 0.1
"How long a link is filled when hosts are connected, and before each load."
_BEGINS_WITHIN_S, _PREPARES_WITHIN_S = BOOTS_WITHIN_S + 2 * wire.LEASE_S, 100.0
"How long a host takes to import benchforge and get its lock, and to look at its programs."
_LINKS_WITHIN_S = 10.0
"Wait for a connection between two hosts."

Connect = Callable[[str, Losses], PipeConnection]
"What makes a connection to a host, by its label."
Connecting = Callable[[Suite], "contextlib.AbstractContextManager[Connect]"]
"What an engine gives for a suite, as long as its hosts can be connected."


class HostSession:
    """The hosts of a run. `connect` makes a connection by its host's label."""

    def __init__(self, suite: Suite, graph: RunGraph, connect: Connect) -> None:
        self._suite, self._graph, self._connect = suite, graph, connect
        self._losses = Losses()
        self._over = threading.Event()
        self._files: Archive | None = None
        self._numbers = {
            (case.name.digest, case.name.arm, case.name.placebo): number
            for number, case in enumerate(graph.cases)
        }
        labels = [host for case in graph.cases for host in case.hosts.values()]
        self.labels = tuple(dict.fromkeys(labels))
        self.connections: dict[str, PipeConnection] = {}
        self.hosts: dict[str, HostFacts] = {}
        self._versions: dict[str, str] = {}
        self._runtimes: dict[str, Ready] = {}
        self._shares: dict[str, HostShare] = {}
        self._digests: dict[str, str] = {}

    def added_to(self, context: TrialContext) -> TrialContext:
        """Return the context with the hosts, what is known of them, and what measures there."""
        return replace(
            context,
            hosts=self.hosts,
            facts=self._facts(),
            versions=self._versions,
            runtimes=self._runtimes,
        )

    def begin(self, tell: Callable[[str], None]) -> None:
        """Connect all hosts, and look for what their parts need.

        Raises ProgramMissing, naming all that any host lacks, and Unusable.
        """
        self.connected()
        for source, links in self.links_of(self._graph.cases, _LINK_S).items():
            self.hosts[source] = self.hosts[source].model_copy(update={"links": links})
        for label, host in self.hosts.items():
            words = f" ({', '.join(host.labels)})" if host.labels else ""
            cpu = host.facts.get("cpu") or "CPU unknown"
            tell(safe.line(f"host {label}{words}: {host.address}, {cpu}"))

    def connected(self) -> None:
        """Connect the hosts that are not connected. Raises what a host raises."""
        if self.connections:
            return
        self._losses = Losses()
        try:
            if self._files is None:
                self._shared()
                needs = needs_of(distinct_parts(self._suite))
                modules = (need.name for need in needs if need.kind == "module")
                code = (name for share in self._shares.values() for name in share.imports)
                self._files = archive(modules, code)
            self._brought(self._files)
            self._introduced()
            self._prepared()
        except BaseException:
            self.disconnected()
            raise

    def _shared(self) -> None:
        """Find out what each host is given of the suite. Raises Unusable."""
        suite = self._suite
        self._digests = code_digests(distinct_parts(suite), suite)
        for workload in suite.workloads.values():
            self._digests |= workload.files
        with checked_out(suite, ground(suite, ()), lambda _: None) as context:
            for label in self.labels:
                self._shares[label] = share_of(suite, label, context.trees, self._digests)

    def _brought(self, files: Archive) -> None:
        """Start the far ends. Raises ProgramMissing, naming all hosts that have none."""
        with ThreadPoolExecutor(len(self.labels)) as pool:
            try:
                each = [pool.submit(self._open, label) for label in self.labels]
                if not any(future.exception() for future in each):  # else none starts its far end
                    each = [pool.submit(value.bring, files) for value in self.connections.values()]
                wait(each)
            except BaseException:  # an interrupt: else it would wait for hosts that do not answer
                self.disconnected()
                raise
        raised = [error for future in each if (error := future.exception()) is not None]
        errors = [error for error in raised if isinstance(error, ProgramMissing)]
        if other := [error for error in raised if not isinstance(error, ProgramMissing)]:
            raise other[0]
        if errors:
            hints = dict.fromkeys(error.hint for error in errors)
            raise ProgramMissing("; ".join(error.message for error in errors), "; ".join(hints))

    def _open(self, label: str) -> None:
        connection = self.connections[label] = self._connect(label, self._losses)
        connection.hide = partial(redact, secrets=self._suite.secrets)
        threading.Thread(target=self._beat, args=(connection,), daemon=True).start()

    def _beat(self, connection: PipeConnection) -> None:
        """Say each second that we are there: to each host alone, since a lost one takes longer."""
        while not self._over.wait(wire.BEAT_S):
            if self.connections.get(connection.label) is not connection:
                return
            connection.beat()

    def disconnected(self) -> None:
        """End what runs on all hosts: at once, since to a lost one it takes longer."""
        connections, self.connections = self.connections, {}
        if connections:
            with ThreadPoolExecutor(len(connections)) as pool:
                list(pool.map(PipeConnection.close, connections.values()))

    def close(self) -> None:
        """End all."""
        self._over.set()
        self.disconnected()

    def all_of(
        self, labels: Iterable[str], method: Callable[..., T], lasts_s: float = 0.0, **same: object
    ) -> dict[str, T]:
        """Call a method of several hosts at once; return what each answers."""
        return self.each_of(method, dict.fromkeys(labels, same), lasts_s)

    def each_of(
        self, method: Callable[..., T], words: Mapping[str, Mapping[str, Any]], lasts_s: float = 0.0
    ) -> dict[str, T]:
        """Call a method of several hosts at once, each with arguments of its own."""
        hosts = self.connections
        sent = {key: hosts[key].send(method, lasts_s, **values) for key, values in words.items()}
        return {label: hosts[label].result(call) for label, call in sent.items()}

    def number_of(self, inputs: TrialInputs) -> int:
        """Return the number of a trial's case, by which hosts know it."""
        name = inputs.step.case.name
        return self._numbers[name.digest, name.arm, name.placebo]

    def _introduced(self) -> None:
        addresses = {label: self._suite.hosts[label].address for label in self.labels}
        arguments = {key: {"label": key, "address": address} for key, address in addresses.items()}
        code = code_digest()
        for label, begun in self.each_of(Place.begin, arguments, _BEGINS_WITHIN_S).items():
            if begun.code != code:
                message = f"hosts.{label}: benchforge there is {begun.code}, and here {code}"
                hint = "remove ~/.cache/benchforge/hosts there: benchforge brings itself anew"
                raise Unusable(message, hint)
            if addresses[label] not in {None, begun.address}:
                raise wire.HostFault(label, f"its address is {begun.address}, not the suite's")
            facts_before = self.hosts.get(label)
            self.hosts[label] = HostFacts(
                address=begun.address,
                labels=self._suite.hosts[label].labels,
                code=begun.code,
                facts=begun.facts,
                links={} if facts_before is None else facts_before.links,
            )

    def _facts(self) -> dict[str, JsonValue]:
        """Return the facts of the first server's host, and the hard facts of all."""
        on_hosts = next(case for case in self._graph.cases if case.hosts)
        server = on_hosts.hosts[f"server-{on_hosts.name.server}"]
        hosts: dict[str, JsonValue] = {key: hard(host.facts) for key, host in self.hosts.items()}
        return {**self.hosts[server].facts, "hosts": hosts}

    def _prepared(self) -> None:
        """Give each host its share of the suite. Raises ProgramMissing, naming all that lacks."""
        peers = sorted({host.address for host in self.hosts.values()})
        for label, share in self._shares.items():
            self.connections[label].bring_files(share.files)
        suites = {
            label: {"suite": {**share.suite.model_dump(mode="json"), "peers": peers}}
            for label, share in self._shares.items()
        }
        builds_s = _PREPARES_WITHIN_S + BUILDS_WITHIN_S * len(self._suite.runtimes)
        prepared = self.each_of(Place.prepare, suites, builds_s)
        incomplete = {key: host for key, host in prepared.items() if host.missing or host.faults}
        if incomplete:
            messages = (text for label, host in incomplete.items() for text in _lacks(label, host))
            hints = (text for label, host in incomplete.items() for text in _how(label, host))
            raise ProgramMissing("; ".join(messages), "; ".join(hints))
        case_names = names_of(self._graph.cases)
        for label, host in prepared.items():
            if host.cases != case_names or not host.digests.items() <= self._digests.items():
                message = f"hosts.{label}: the suite's code or data differ there"
                raise Unusable(message, "run it again, and change no file meanwhile")
            self._alike(label, host)

    def _alike(self, label: str, host: Prepared) -> None:
        """Note versions and runtimes of a host. Raises Unusable where another host has others."""
        for name, version in host.versions.items():
            if self._versions.setdefault(name, version) != version:
                other = self._versions[name]
                message = f"hosts.{label}: {name} is {version}, and {other} on another host"
                raise Unusable(message, "install the same version on all hosts of a role")
        for name, runtime in host.runtimes.items():
            known_runtime = self._runtimes.setdefault(name, runtime)
            if _packages(runtime) != _packages(known_runtime):
                differ = _packages(runtime).items() ^ _packages(known_runtime).items()
                names = sorted({package for package, _ in differ})
                message = f"hosts.{label}: runtime {name} differs from that of another host: "
                hint = "pin the versions in requires, or remove ~/.cache/benchforge/runtimes there"
                raise Unusable(message + conjoined(names), hint)

    def links_of(
        self, cases: Iterable[Case], seconds: float = _BRIEF_LINK_S
    ) -> dict[str, dict[str, HostLink]]:
        """Measure both ways the networks between hosts that talk in a load. Raises NoAnswer."""
        links: dict[str, dict[str, HostLink]] = {}
        for pair in dict.fromkeys(pair for case in cases for pair in _pairs(case)):
            for source, target in (pair, pair[::-1]):
                links.setdefault(source, {})[target] = self._link(source, target, seconds)
        return links

    def _link(self, source: str, target: str, seconds: float) -> HostLink:
        """Measure the network from a host to another. Raises NoAnswer where there is none."""
        address = self.hosts[target].address
        token = secrets.token_hex(16)
        port = self.connections[target].call(Place.sink, token=token)
        where = {"address": address, "port": port, "seconds": seconds, "token": token}
        try:
            return self.connections[source].call(measured, _LINKS_WITHIN_S, **where)
        except NoAnswer as error:
            if type(error) is not NoAnswer:  # a host was lost, or sends what none of ours does
                raise
            message = f"{source} cannot reach {target} at {address}:{port}"
            hint = "a firewall, or an address of another network: see [hosts.x] address"
            raise NoAnswer(message, hint) from error


@contextlib.contextmanager
def hosts_of_run(
    connecting: Connecting, suite: Suite, graph: RunGraph, tell: Callable[[str], None]
) -> Iterator[HostSession]:
    """Connect the hosts of a suite while a run lasts, by what an engine gives for its suite."""
    with (
        connecting(suite) as connect,
        contextlib.closing(HostSession(suite, graph, connect)) as host_session,
    ):
        host_session.begin(tell)
        yield host_session


def _pairs(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the hosts that talk during a load: each with that of the server."""
    if case.hosts:
        server = case.hosts[f"server-{case.name.server}"]
        others = (host for name, host in case.hosts.items() if not name.startswith("server-"))
        yield from dict.fromkeys((host, server) for host in others if host != server)


def _packages(runtime: Ready) -> dict[str, str]:
    """Return what has to be the same on all hosts: the interpreter's version and packages."""
    facts = runtime.facts
    return {facts.implementation: facts.version, **facts.packages}


def _lacks(label: str, host: Prepared) -> Iterator[str]:
    if names := [name for name, *_ in host.missing]:
        yield f"{label} lacks {conjoined(names)}"
    yield from (f"{label}: {message}" for message, _ in host.faults)


def _how(label: str, host: Prepared) -> Iterator[str]:
    """Yield how to get what is missing: one command for all Debian packages."""
    packages = sorted({debian for _, debian, _ in host.missing if debian})
    apt = [f"apt-get install {' '.join(packages)}"] if packages else []
    others = dict.fromkeys(how for _, debian, how in host.missing if not debian)
    of_runtimes = dict.fromkeys(hint for _, hint in host.faults)
    if ways := [*apt, *others, *of_runtimes]:
        yield f"on {label}: {'; '.join(ways)}"
