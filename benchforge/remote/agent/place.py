"""A host for a run: what it is, what its parts need, and its part of one trial after another."""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

from benchforge.errors import ProgramMissing, Unusable
from benchforge.model.suite.placement import Placement
from benchforge.model.values.bounds import Facts
from benchforge.model.values.case_name import Role
from benchforge.parts.registry import Registry
from benchforge.parts.site import Tree
from benchforge.remote import wire
from benchforge.remote.agent import links
from benchforge.remote.agent.host_trial import HostTrial
from benchforge.remote.answers import Begun, Count, HostStep, HostSuite, Moment, Port, Prepared
from benchforge.remote.archive import FileCache, code_digest
from benchforge.run.disk.leftovers import cleared
from benchforge.run.header import reported_versions
from benchforge.run.locate import missing
from benchforge.run.machine.facts import facts
from benchforge.run.machine.placement import Places, machine, places
from benchforge.run.sandbox.machine_lock import Wait, measuring
from benchforge.run.trial.context import ground, locate_programs, needs_of, with_runtimes
from benchforge.run.watch.sampler import EVERY_S
from benchforge.suite.cases.case import code_digests
from benchforge.suite.cases.expand import Cases, expand
from benchforge.suite.cases.parts import parts_on
from benchforge.suite.load import SuiteCall, load_on_host
from benchforge.suite.measuring.host_faults import used
from benchforge.suite.secrets import pieces
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.text.safe import HIDDEN

_IDLE_S = 3600.0
_LOCKED_S, _BETWEEN_S = 2 * wire.LEASE_S, 0.2


class Place:
    """Answers calls by the names of its methods below, one after another, from one thread."""

    def __init__(self) -> None:
        files = self._files = FileCache()
        session_calls = (self.begin, self.clock, self.prepare, self.sink, self.traffic, self.enter)
        calls = (*session_calls, self.clear, files.has, files.take, links.measured)
        self._calls: Mapping[str, Callable[..., Any]] = {call.__name__: call for call in calls}
        self._until_we_end = contextlib.ExitStack()
        self._label = self._address = ""
        self._trial: HostTrial | None = None

    def answer(self, do: object, request: object) -> Any:
        """Do a call and return what it gives."""
        name = str(do)
        arguments = dict(request) if isinstance(request, dict) else {}
        if (call := self._calls.get(name)) is not None:
            return call(**arguments)
        if self._trial is None or name not in HostTrial.CALLS:
            raise Unusable(f"no call {name!r}")
        return getattr(self._trial, name)(**arguments)

    @property
    def every_s(self) -> float:
        """How long to wait for a call before `tick`, in seconds."""
        return EVERY_S if self._trial is not None else _IDLE_S

    def tick(self) -> str:
        """Look at what runs here; return why the trial is lost, or nothing."""
        return "" if self._trial is None else self._trial.tick()

    def begin(self, label: str, address: str | None) -> Begun:
        """Take the machine's lock and say what the host is."""
        self._label = label
        session = os.environ.get("SSH_CONNECTION", "").split()
        self._address = address or (session[2] if len(session) > 2 else "")  # noqa: PLR2004
        try:
            links.interface(self._address)
        except (OSError, ValueError):
            problem = f"address {self._address or 'unknown'}: no network interface has it"
            raise Unusable(problem, f'write address = "IPv4" in [hosts.{label}]') from None
        self._locked()
        cleared()
        return Begun(address=self._address, code=code_digest(), facts=facts())

    def sink(self, token: str) -> Port:
        """Take the connection with which another host measures the network; return the port."""
        return links.sink(self._address, token)

    def traffic(self) -> dict[str, Count]:
        """Return the counters of the network interface with the host's address."""
        return links.traffic(self._address)

    def _locked(self) -> None:
        """Take the machine's lock; a far end that was lost holds it until its lease is over."""
        deadline = time.monotonic() + _LOCKED_S
        while True:
            try:
                self._until_we_end.enter_context(measuring(_refuse))
            except Unusable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_BETWEEN_S)
            else:
                return

    def clock(self) -> Moment:
        """Return the monotonic clock."""
        return time.monotonic()

    def prepare(self, suite: dict[str, Any]) -> Prepared:
        """Read the suite; return what the host's parts lack, or what their programs are."""
        share = HostSuite.model_validate(suite)
        folder = self._files.unpacked(share.files)
        path = folder / share.path
        path.parent.mkdir(parents=True, exist_ok=True)
        options = share.profile, share.settings, share.only
        call = SuiteCall(path, *options, share.digests, share.feeds)
        environment = share.environment
        read = load_on_host(share.text, call, Registry(), lambda key: environment.get(key, HIDDEN))
        loaded = replace(read, secrets=read.secrets - {*pieces(HIDDEN)})
        parts = list(parts_on(loaded, self._label))
        needs = needs_of(parts)
        missing_needs = missing(needs, loaded.path.parent)
        present = [need for need in needs if need not in missing_needs]
        context = replace(
            ground(loaded, ()),
            programs=locate_programs(present, loaded.path.parent),
            network="host",
            peers=share.peers,
            quiet="off",
            trees={
                (directory, ref): Tree(folder / repository, folder / checkout)
                for directory, ref, repository, checkout in share.trees
            },
        )
        wrong: list[tuple[str, str]] = []
        try:
            context = replace(context, places=places_on(loaded, self._label))
            context = with_runtimes(context, loaded, parts, lambda _: None)
        except SuiteErrors as errors:
            wrong = [(fault.message, str(fault.hint)) for fault in errors.faults]
        except ProgramMissing as error:
            wrong = [(error.message, error.hint)]
        if missing_needs or wrong:
            names = tuple((need.name, need.debian or "", need.how) for need in missing_needs)
            return Prepared(missing=names, faults=tuple(wrong))
        cases = expand(loaded)
        self._ready = cases, context
        return Prepared(
            cases=names_of(cases),
            digests=code_digests(parts, loaded),
            versions=reported_versions(parts, context),
            runtimes=dict(context.runtimes),
        )

    def enter(self, case: int, step: dict[str, Any]) -> Facts:
        """Make the host's place for a trial."""
        self.clear()
        cases, context = self._ready
        self._trial = HostTrial(self._label, self._address, cases[case], context)
        return self._trial.enter(HostStep.model_validate(step))

    def clear(self) -> None:
        """Remove all of the last trial."""
        trial, self._trial = self._trial, None
        if trial is not None:
            trial.clear()


def places_on(suite: Suite, label: str) -> Places:
    """Return the CPUs of each role on a host. Raises SuiteErrors for CPUs that are not there.

    With `auto`, load tools get CPUs of their own where they are not alone on the host.
    """
    scenarios = suite.scenarios.values()
    parts = (part for each in scenarios for part in used(suite, each) if label in part.hosts)
    roles = {part.role for part in parts}
    placement = suite.placement
    if placement == "auto" and ("loader" not in roles or len(roles) < 2):  # noqa: PLR2004
        return {}
    if isinstance(placement, Placement):
        others = {role: None for role in get_args(Role) if role not in roles}
        suite = replace(suite, placement=placement.model_copy(update=others))
    return {key: cpus for key, cpus in places(suite, machine()).items() if key in roles}


def names_of(cases: Cases) -> str:
    """Return a digest of the names of all cases, by which both sides mean the same by a number."""
    total = hashlib.sha256()
    for case in cases:
        name = case.name.model_copy(update={"digest": "", "arm": 1})
        total.update(name.model_dump_json().encode())
    return total.hexdigest()[:16]


def _refuse(wait: Wait) -> None:
    raise Unusable(f"{wait.in_words} on this host", "run it again when that has ended")
