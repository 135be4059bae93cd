"""One trial over several hosts, from benchforge's own machine: who does what, in which order."""

import base64
import contextlib
import errno
import os
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from benchforge.errors import ProgramMissing, TrialFailed, Unusable
from benchforge.model.files.folder import CEILING, TRIAL
from benchforge.model.trial.rows import SYSTEM, USAGE
from benchforge.model.trial.trial import Failure, Trial
from benchforge.parts.part import GRACE_S, Service
from benchforge.remote import wire
from benchforge.remote.agent.host_trial import HostTrial
from benchforge.remote.agent.place import Place
from benchforge.remote.answers import ANSWERS_WITHIN_S, MAKES_WITHIN_S, HostStep, StartedService
from benchforge.remote.session.merged import HostPart, merged, merged_reading
from benchforge.run.ceiling.null_server import NullServer
from benchforge.run.trial.context import MeasuredTrial, TrialContext, TrialInputs
from benchforge.run.trial.measure import Tell, failure_of, trial_of
from benchforge.run.trial.scope import Steps, TrialRecorder, driver_label, services_of
from benchforge.run.trial.stages.order import Way, each, run
from benchforge.run.trial.stages.windows import LoadConnections
from benchforge.suite.cases.case import load_s
from benchforge.text import door, safe

if TYPE_CHECKING:
    from benchforge.remote.session.session import HostSession

_FEWEST_TRIPS, _MOST_TRIPS = 16, 200
_CLOSE_S, _TRIPS_S = 0.0002, 0.5
"A round trip that is short enough, and how long to try for one."
_LARGEST_FILES = 512 << 20
_BY_ITS_NAME = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR)
_AHEAD_S = 0.3
"Time from the order to several load tools to their start, in seconds."


def measure(
    session: "HostSession", inputs: TrialInputs, context: TrialContext, tell: Tell
) -> MeasuredTrial:
    """Measure one trial; what fails is in it. A lost host is a fault of the apparatus."""
    inputs.folder.mkdir(exist_ok=True)
    trial = _HostsTrial(session, inputs, tell)
    failure: Failure | None = None
    try:
        _connected_again(session)
        trial.enter()
        run(HOSTS, [trial])
    except wire.HostFault:
        raise
    except Exception as error:  # noqa: BLE001 - raised again where it is nobody's but ours
        failure = failure_of(error, inputs.step.case, inputs.folder)
        if isinstance(error, wire.HostLost):
            session.disconnected()
    try:
        if session.connections:
            return trial.kept(context, failure)
    except wire.HostLost as lost:
        failure = failure or failure_of(lost, inputs.step.case, inputs.folder)
        session.disconnected()
    measured = trial_of(inputs, context, trial.recorder, failure)
    return MeasuredTrial(merged(measured.trial, trial.hosts, inputs.folder), None)


def _connected_again(session: "HostSession") -> None:
    """Connect hosts that were lost; what prevents it ends as they do, and not the run."""
    try:
        session.connected()
    except (ProgramMissing, Unusable) as error:
        failed = TrialFailed("start", error.message, error.hint)
        failed.about = "apparatus"
        raise failed from error


class _HostsTrial:
    """The calls of one trial, in their order."""

    def __init__(self, session: "HostSession", inputs: TrialInputs, tell: Tell) -> None:
        self._session, self._inputs, self.recorder = session, inputs, TrialRecorder(tell)
        case, label = inputs.step.case, driver_label(inputs.step.case)
        self._case, self._load = case, case.hosts[label]
        self._tools = tuple(host for name, host in case.hosts.items() if name.endswith(label))
        self._server = case.hosts[f"server-{case.name.server}"]
        self._labels = tuple(dict.fromkeys(case.hosts.values()))
        self._owns: bool | None = None
        self._reads = ""
        "Label of the host that reads the load's answers; empty if none does."
        self.hosts = {label: self._host(label) for label in self._labels}

    def _host(self, label: str) -> HostPart:
        loads, shares = label == self._load, label in self._tools and len(self._tools) > 1
        return HostPart(
            parts=tuple(name for name, host in self._case.hosts.items() if host == label),
            loads=loads,
            serves=label == self._server,
            shares=shares,
            before="" if loads else f"{label}/" if shares else f"{label}-",
            facts=self._session.hosts[label],
        )

    def enter(self) -> None:
        """Make the place of each host."""
        number = self._session.number_of(self._inputs)
        steps = {label: {"case": number, "step": self._step(label)} for label in self._labels}
        with self.recorder.phase("keeper"):
            for label, facts in self._session.each_of(Place.enter, steps, ANSWERS_WITHIN_S).items():
                self.hosts[label].hard_facts = facts
                self.hosts[label].facts = self._session.hosts[label]

    def _step(self, label: str) -> dict[str, Any]:
        inputs, step, tools = self._inputs, self._inputs.step, self._tools
        server, like, null = self._case.server, inputs.like, None
        if isinstance(server, NullServer) and inputs.divided is not None:
            null = {"server": server.model_dump(), "share": inputs.divided[1:]}
        return HostStep(
            block=step.block,
            position=step.position,
            seed=step.seed,
            run_seed=step.run_seed,
            number=inputs.number,
            attempt=inputs.attempt,
            answer=like and (like.server, base64.b64encode(like.body).decode()),
            share=(tools.index(label), len(tools)) if self.hosts[label].shares else None,
            rate=None if self._case.find is None else self._case.driver.load().rate,
            null=null,
        ).model_dump(mode="json")

    def start(self) -> Steps[dict[str, StartedService]]:
        """Start all services in order, each on its host; return where each is."""
        case, services = self._case, dict[str, StartedService]()
        backends: dict[str, Any] = {}
        upstreams: dict[str, Any] = {}
        with self.recorder.phase("services"):
            for role, label, part in services_of(case):
                name = f"{role}-{label}"
                host = self._session.connections[case.hosts[name]]
                made = type(part).template is not Service.template
                services[name] = host.call(
                    HostTrial.service,
                    part.ready_within + (MAKES_WITHIN_S if made else 0.0),
                    name=name,
                    backends=backends,
                    upstreams=upstreams,
                )
                if services[name].address != self.hosts[case.hosts[name]].facts.address:
                    raise wire.HostFault(case.hosts[name], f"{name} is at an address of others")
                yield
                (backends if role == "backend" else upstreams)[label] = services[name].gives
        return services

    def ask(self, services: dict[str, StartedService]) -> LoadConnections:
        """Let the load tools' hosts ask until the answer is right; return what is to be judged."""
        places = {name: service.model_dump() for name, service in services.items()}
        within_s = self._case.server.ready_within
        with self.recorder.phase("ask"):
            answers = self._session.all_of(self._tools, HostTrial.ask, within_s, services=places)
        return answers[self._load]

    def _unread(self, read: LoadConnections) -> str:
        """Let the host of these connections get ready to read them; return why none can."""
        host = self._case.hosts.get(read.service)
        if host is None:
            raise wire.HostFault(self._load, f"no part is called {safe.word(read.service[:99])}")
        peers = {self._server} if read.behind else {*self._tools}
        across, reason = host not in peers, read.why
        if not (reason or across or len(peers) == 1):
            reason = f"load tools run on host {host} and on others"
        if not reason:
            where = self._session.connections[host]
            reason = where.call(HostTrial.read, port=read.port, across=across)
            self._reads = "" if reason else host
        return reason

    def warm_up(self, read: LoadConnections) -> None:
        """Let the load tools' hosts warm the server up, and measure the links."""
        case, lasts_s = self._case, self._case.warm_up_s + self._case.driver.grace_s()
        if case.workload is not None:  # its users log in, and each kind is answered
            lasts_s += MAKES_WITHIN_S
            lasts_s += case.server.ready_within * len(case.workload.first)
        with self.recorder.phase("warm-up"):
            unread = self._unread(read)
            self._session.all_of(self._tools, HostTrial.warm_up, lasts_s, unread=unread)
        with self.recorder.phase("links"):
            for label, links in self._session.links_of([self._case]).items():
                self.hosts[label].links = links

    def load(self, _: None) -> None:
        """Run the load, while each other host looks at its parts."""
        session = self._session
        with self.recorder.phase("load"):
            others = [label for label in self._labels if label not in self._tools]
            for label, host in self.hosts.items():
                host.clock = self._offset(label)
            clocks = {label: host.clock[0] for label, host in self.hosts.items() if host.clock}
            earlier = session.all_of(self._labels, Place.traffic)
            self._owns = session.all_of(others, HostTrial.watch).get(self._server)
            self._loaded(clocks)
            later = session.all_of(self._labels, Place.traffic)
            self._owns = session.all_of(others, HostTrial.observed).get(self._server, self._owns)
            for label, host in self.hosts.items():
                host.moved_s = self._offset(label)[0] - clocks[label]
                counts = {key: later[label].get(key, -1) - n for key, n in earlier[label].items()}
                host.traffic = {name: count for name, count in counts.items() if count >= 0}

    def finish(self, _: None) -> None:
        """Let the load tools' hosts read what their tools say, and send the request again."""
        with self.recorder.phase("finish"):
            kinds = 1 if self._case.workload is None else len(self._case.workload.first)
            words: dict[str, dict[str, Any]] = {label: {} for label in self._tools}
            if self._reads not in ("", self._load):
                sent = self._session.connections[self._reads].call(HostTrial.captured)
                reads, loads = (
                    self.hosts[key].clock or (0.0,) for key in (self._reads, self._load)
                )
                ahead_s = reads[0] - loads[0]
                words[self._load] = {"captured": sent.model_dump_json(), "ahead_s": ahead_s}
            self._session.each_of(HostTrial.finish, words, kinds * ANSWERS_WITHIN_S)

    def _loaded(self, clocks: Mapping[str, float]) -> None:
        """Run the load; several load tools start together, or within an interval of the rate."""
        driver = self._case.driver
        lasts_s = load_s(driver) + max(0.0, driver.grace_s() - GRACE_S)
        if len(self._tools) == 1:
            self._session.all_of(self._tools, HostTrial.load, lasts_s)
            return
        rate, begin_s = driver.load().rate, time.monotonic() + _AHEAD_S
        later_s = {label: n / rate if rate else 0.0 for n, label in enumerate(self._tools)}
        begins = {k: {"begins_s": begin_s + later_s[k] + clocks[k]} for k in self._tools}
        starts: dict[str, float] = {}
        for label, moment in self._session.each_of(HostTrial.load, begins, lasts_s).items():
            starts[label] = moment - clocks[label] - later_s[label]
            if abs(starts[label] - begin_s) > lasts_s + ANSWERS_WITHIN_S:
                raise wire.HostFault(label, "its load began at another time")
        for label, start in starts.items():
            self.hosts[label].started_s = start - min(starts.values())

    def _offset(self, label: str) -> tuple[float, float]:
        """Return the host's clock less ours, from the quickest round trip, and its bound."""
        trips: list[tuple[float, float]] = []
        enough_s = time.monotonic() + _TRIPS_S
        while len(trips) < _FEWEST_TRIPS or (
            min(trips)[0] > _CLOSE_S and len(trips) < _MOST_TRIPS and time.monotonic() < enough_s
        ):
            earlier = time.monotonic()
            moment = self._session.connections[label].call(Place.clock)
            later = time.monotonic()
            trips.append((later - earlier, moment - (earlier + later) / 2))
        took, offset = min(trips)
        return offset, took / 2

    def kept(self, context: TrialContext, failure: Failure | None) -> MeasuredTrial:
        """End the trial on all hosts, fetch its files, and return it as one."""
        cause = None if failure is None else failure.model_dump(mode="json")
        others_first = sorted(self._labels, key=lambda label: label == self._load)
        stops_s = ANSWERS_WITHIN_S * len(self._case.services)
        with self.recorder.phase("stop"):
            ended = self._session.all_of(others_first, HostTrial.leave, stops_s, failure=cause)
        with self.recorder.phase("leave"):
            for label, part in ended.items():
                self.hosts[label].trial = part.trial
                self._fetched(label, part.files)
                self._session.connections[label].call(Place.clear)
        step = self._inputs.step
        trial = ended[self._load].trial.model_copy(
            update={
                "case": self._case.name,  # a host does not know secrets of other parts
                "number": self._inputs.number,
                "block": step.block,
                "position": step.position,
                "attempt": self._inputs.attempt,
                "seed": step.seed,
                "started": self.recorder.began,
                "seconds": time.monotonic() - self.recorder.begun_s,
                "phases": self.recorder.phases,
                "checks": (),
            }
        )
        try:
            if len(self._tools) > 1:
                trial = self._divided(trial)
            trial = merged(trial, self.hosts, self._inputs.folder, owns=self._owns)
        except (ArithmeticError, LookupError, ValueError, FileNotFoundError) as error:
            reason = f"what hosts say of the trial contradicts itself: {str(error).splitlines()[0]}"
            raise wire.HostFault(self._load, reason) from error
        return MeasuredTrial(trial, ended[self._load].body)

    def _divided(self, trial: Trial) -> Trial:
        """Return the trial with the load of all load tools, and what they report together."""
        whole_load = self._case.driver.load()
        names = ("connections", "processes", "rate", "concurrency")
        as_whole = {name: getattr(whole_load, name) for name in names}
        load = trial.load and trial.load.model_copy(update=as_whole)
        tools = [self.hosts[label] for label in self._tools]
        failures = (tool.trial.failure for tool in tools if tool.trial is not None)
        readings = [tool.reading for tool in tools]
        complete = [reading for reading in readings if reading is not None]
        starts = [tool.started_s or 0.0 for tool in tools]
        update = {
            "load": load,
            "driver_digest": self._case.driven,
            "failure": next(filter(None, failures), None),
            "reading": merged_reading(complete, starts) if len(complete) == len(readings) else None,
        }
        return trial.model_copy(update=update)

    def _fetched(self, label: str, names: Iterable[str]) -> None:
        """Bring a host's files into the trial's folder; those that each host has get its label.

        Files of further load tools go to a folder.
        """
        rest, folder, prefix = _LARGEST_FILES, self._inputs.folder, self.hosts[label].before
        for name in names:
            shared = name in {USAGE, SYSTEM, "keeper.err"} or prefix.endswith("/")
            file_name = f"{prefix}{name}" if shared else name
            if os.path.lexists(folder / file_name):
                raise wire.HostFault(label, f"another host has a file {safe.word(file_name)}, too")
            if file_name in {TRIAL, CEILING} or door.HALF in file_name:
                raise wire.HostFault(label, f"no program leaves a file {safe.word(file_name)}")
            content = self._content(label, name, rest)
            rest -= len(content)
            try:
                if folders := file_name.rpartition("/")[0]:
                    with contextlib.suppress(FileExistsError):
                        door.make(folder, folders)
                door.write(folder, file_name, content, lasting=False)
            except OSError as error:
                if error.errno not in _BY_ITS_NAME:
                    raise
                reason = f"{safe.word(file_name[:99])}: {error.strerror}"
                raise wire.HostFault(label, reason) from error

    def _content(self, label: str, name: str, most: int) -> bytes:
        content, size, host = bytearray(), 1, self._session.connections[label]
        while len(content) < size:
            piece = host.call(HostTrial.fetch, name=name, offset=len(content))
            size = piece.size
            if size > most:
                raise TrialFailed("read", f"{label}: its files are larger than 512 MiB")
            content += piece.data
            if len(piece.data) != wire.CHUNK and len(content) != size:
                raise wire.HostFault(label, f"a piece of {safe.word(name)} has another size")
        return bytes(content)


_load = each(_HostsTrial.load)
HOSTS = Way(_HostsTrial.start, _HostsTrial.ask, _HostsTrial.warm_up, _load, _HostsTrial.finish)
