"""One trial over several hosts, from benchforge's own machine: who does what, in which order."""

import base64
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchforge.errors import ProgramMissing, TrialFailed, Unusable
from benchforge.model.trial.hosts import HostLink
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.rows import SYSTEM, USAGE
from benchforge.model.trial.trial import Failure, Trial
from benchforge.remote import wire
from benchforge.remote.host_step import HostStep
from benchforge.remote.readings import merged_reading
from benchforge.remote.session.merged import HostPart, merged
from benchforge.run.ceiling.null_server import NullServer
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.inputs import MeasuredTrial, TrialInputs
from benchforge.run.trial.measure import failure_of, trial_of
from benchforge.run.trial.recorder import TrialRecorder
from benchforge.run.trial.scope import driver_label, services_of
from benchforge.run.trial.stages.order import Way, run
from benchforge.run.trial.stages.steps import Steps, each
from benchforge.text import door

if TYPE_CHECKING:
    from benchforge.remote.session.session import HostSession

_FEWEST_TRIPS, _MOST_TRIPS = 16, 200
_CLOSE_S, _TRIPS_S = 0.0002, 0.5
"A round trip that is short enough, and how long to try for one."
_LARGEST_FILES = 512 << 20
_AHEAD_S = 0.3
"How soon several load tools start, from when their hosts are told."


def measure(
    session: "HostSession",
    inputs: TrialInputs,
    context: TrialContext,
    tell: Callable[[str], None],
) -> MeasuredTrial:
    """Measure one trial; what fails is in it. A lost host is a fault of the apparatus."""
    recorder = TrialRecorder(tell)
    inputs.folder.mkdir(exist_ok=True)
    trial = _HostsTrial(session, inputs, recorder)
    failure: Failure | None = None
    try:
        _connected_again(session)
        trial.enter()
        run(HOSTS, [trial])
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
    measured = trial_of(inputs, context, recorder, failure)
    return MeasuredTrial(merged(measured.trial, trial.parts(), inputs.folder), None)


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

    def __init__(
        self, session: "HostSession", inputs: TrialInputs, recorder: TrialRecorder
    ) -> None:
        self._session, self._inputs, self.recorder = session, inputs, recorder
        case = self._case = inputs.step.case
        self._load = case.hosts[driver_label(case)]
        self._tools = tuple(
            host for name, host in case.hosts.items() if name.endswith(driver_label(case))
        )
        self._server = case.hosts[f"server-{case.name.server}"]
        self._labels = tuple(dict.fromkeys(case.hosts.values()))
        self._clocks: dict[str, tuple[float, float]] = {}
        self._moved: dict[str, float] = {}
        self._traffic: dict[str, Mapping[str, int]] = {}
        self._facts: dict[str, Any] = {}
        self._trials: dict[str, Trial] = {}
        self._owns: bool | None = None
        self._links: dict[str, dict[str, HostLink]] = {}
        self._started_s: dict[str, float] = {}

    def enter(self) -> None:
        """Make the place of each host."""
        call = self._session.connections.__getitem__
        with self.recorder.phase("keeper"):
            number = self._session.number_of(self._inputs)
            sent = {
                label: call(label).send("enter", case=number, step=self._step(label))
                for label in self._labels
            }
            entered = {label: call(label).result(number) for label, number in sent.items()}
            self._facts = {label: answer["facts"] for label, answer in entered.items()}

    def _step(self, label: str) -> dict[str, Any]:
        """Return what a host is told of the trial."""
        inputs, step = self._inputs, self._inputs.step
        answer = None
        if (like := inputs.like) is not None:
            answer = like.server, base64.b64encode(like.body).decode()
        return HostStep(
            block=step.block,
            position=step.position,
            seed=step.seed,
            run_seed=step.run_seed,
            number=inputs.number,
            attempt=inputs.attempt,
            answer=answer,
            share=self._share(label),
            rate=None if self._case.find is None else self._case.driver.load().rate,
            null=self._null(),
        ).model_dump(mode="json")

    def start(self) -> Steps[dict[str, Any]]:
        """Start all services in order, each on its host; return where each is."""
        case, services = self._case, dict[str, dict[str, Any]]()
        backends: dict[str, Any] = {}
        upstreams: dict[str, Any] = {}
        with self.recorder.phase("services"):
            for role, label, _ in services_of(case):
                name = f"{role}-{label}"
                host = self._session.connections[case.hosts[name]]
                services[name] = host.call(
                    "service", name=name, backends=backends, upstreams=upstreams
                )
                yield
                (backends if role == "backend" else upstreams)[label] = services[name]["gives"]
        return services

    def ask(self, services: dict[str, Any]) -> None:
        """Let the load tools' hosts send the request until it is answered rightly."""
        with self.recorder.phase("ask"):
            self._session.all_of(self._tools, "ask", services=services)

    def warm_up(self, _: None) -> None:
        """Let the load tools' hosts warm the server up, and measure the links."""
        with self.recorder.phase("warm-up"):
            self._session.all_of(self._tools, "warm_up")
        with self.recorder.phase("links"):
            self._links = self._session.links_of(self._case)

    def load(self, _: None) -> None:
        """Run the load, while each other host looks at its parts."""
        session = self._session
        with self.recorder.phase("load"):
            others = [label for label in self._labels if label not in self._tools]
            self._clocks = {label: self._offset(label) for label in self._labels}
            before = session.all_of(self._labels, "traffic")
            self._owns = session.all_of(others, "watch").get(self._server, {}).get("owns")
            self._loaded()
            after = session.all_of(self._labels, "traffic")
            observed = session.all_of(others, "observed")
            if self._server in observed and observed[self._server]["owns"] is not self._owns:
                self._owns = observed[self._server]["owns"]
            self._moved = {
                label: self._offset(label)[0] - self._clocks[label][0] for label in self._labels
            }
            self._traffic = {
                label: {name: after[label][name] - count for name, count in counts.items()}
                for label, counts in before.items()
            }

    def finish(self, _: None) -> None:
        """Let the load tools' hosts read what their tools say, and send the request again."""
        with self.recorder.phase("finish"):
            self._session.all_of(self._tools, "finish")

    def _null(self) -> dict[str, Any] | None:
        """Return the null server, and for whose share of the load it is; None in a trial."""
        server, divided = self._case.server, self._inputs.divided
        if not isinstance(server, NullServer) or divided is None:
            return None
        return {"server": server.model_dump(), "share": divided[1:]}

    def _share(self, label: str) -> tuple[int, int] | None:
        """Return the place of a host among those that divide the load, and their number."""
        several = len(self._tools) > 1 and label in self._tools
        return (self._tools.index(label), len(self._tools)) if several else None

    def _loaded(self) -> None:
        """Run the load; several load tools start at one moment, each by its host's own clock.

        Those of a rate start one after the other within one interval of the whole rate.
        """
        call = self._session.connections.__getitem__
        if len(self._tools) == 1:
            call(self._load).call("load")
            return
        at, rate = time.monotonic() + _AHEAD_S, self._case.driver.load().rate
        later_s = {
            label: 0.0 if rate is None else number / rate
            for number, label in enumerate(self._tools)
        }
        sent = {
            label: call(label).send("load", begins_s=at + later + self._clocks[label][0])
            for label, later in later_s.items()
        }
        began = {label: call(label).result(number)["began"] for label, number in sent.items()}
        starts = {label: began[label] - self._clocks[label][0] - later_s[label] for label in began}
        self._started_s = {label: start - min(starts.values()) for label, start in starts.items()}

    def _offset(self, label: str) -> tuple[float, float]:
        """Return the host's clock less ours, from the quickest round trip, and its bound."""
        trips: list[tuple[float, float]] = []
        enough_s = time.monotonic() + _TRIPS_S
        while len(trips) < _FEWEST_TRIPS or (
            min(trips)[0] > _CLOSE_S and len(trips) < _MOST_TRIPS and time.monotonic() < enough_s
        ):
            before = time.monotonic()
            there = self._session.connections[label].call("clock")
            after = time.monotonic()
            trips.append((after - before, there - (before + after) / 2))
        took, offset = min(trips)
        return offset, took / 2

    def kept(self, context: TrialContext, failure: Failure | None) -> MeasuredTrial:
        """End the trial on all hosts, fetch its files, and return it as one."""
        why = None if failure is None else failure.model_dump(mode="json")
        others_first = sorted(self._labels, key=lambda label: label == self._load)
        with self.recorder.phase("stop"):
            answers = self._session.all_of(others_first, "leave", failure=why)
        with self.recorder.phase("leave"):
            for label, answer in answers.items():
                self._trials[label] = Trial.model_validate_json(answer["trial"])
                self._fetched(label, answer["files"])
                self._session.connections[label].call("clear")
        body = answers[self._load]["body"]
        trial = self._trials[self._load].model_copy(
            update={
                "case": self._case.name,  # a host does not know secrets of other parts
                "number": self._inputs.number,
                "started": self.recorder.began,
                "seconds": time.monotonic() - self.recorder.begun_s,
                "phases": self.recorder.phases,
            }
        )
        if len(self._tools) > 1:
            trial = self._divided(trial)
        trial = merged(trial, self.parts(), self._inputs.folder, owns=self._owns)
        return MeasuredTrial(trial, None if body is None else base64.b64decode(body))

    def _divided(self, trial: Trial) -> Trial:
        """Return the trial with the load of all load tools, and what they report together."""
        whole = self._case.driver.load()
        names = ("connections", "processes", "rate", "concurrency")
        load = (
            None
            if trial.load is None
            else trial.load.model_copy(update={name: getattr(whole, name) for name in names})
        )
        failures = (self._trials[label].failure for label in self._tools)
        readings = [self._reading(label) for label in self._tools]
        complete = [one for one in readings if one is not None]
        starts = [self._started_s.get(label, 0.0) for label in self._tools]
        update = {
            "load": load,
            "driver_digest": self._case.driven,
            "failure": next(filter(None, failures), None),
            "reading": merged_reading(complete, starts) if len(complete) == len(readings) else None,
        }
        return trial.model_copy(update=update)

    def _fetched(self, label: str, names: list[str]) -> None:
        """Bring a host's files into the trial's folder; those that each host has get its label.

        Those of a second load tool and so on have the names of the first one's, in a folder.
        """
        left = _LARGEST_FILES
        folder = self._inputs.folder
        for name in names:
            before = self._before(label)
            shared = name in {USAGE, SYSTEM, "keeper.err"} or before.endswith("/")
            own = f"{before}{name}" if shared else name
            pieces: list[bytes] = []
            size = 1
            while sum(map(len, pieces)) < size and left > 0:
                piece = self._session.connections[label].call(
                    "fetch", name=name, offset=sum(map(len, pieces))
                )
                data, size = base64.b64decode(piece["data"]), int(piece["size"])
                pieces.append(data)
                left -= len(data)
                if not data:
                    break
            if left <= 0:
                raise TrialFailed("read", f"{label}: its files are larger than 512 MiB")
            above = own.rpartition("/")[0]
            with contextlib.suppress(FileExistsError):
                if above:
                    door.make(folder, above)
            door.write(folder, own, b"".join(pieces), lasting=False)

    def _before(self, label: str) -> str:
        """Return what stands before the names of a host's files."""
        if label == self._load:
            return ""
        return f"{label}/" if label in self._tools else f"{label}-"

    def _reading(self, label: str) -> Reading | None:
        """Return what one of several load tools reports."""
        several = len(self._tools) > 1 and label in self._tools and label in self._trials
        return self._trials[label].reading if several else None

    def parts(self) -> dict[str, HostPart]:
        """Return what is known of each host's part."""
        return {
            label: HostPart(
                facts=self._session.hosts[label],
                parts=tuple(name for name, host in self._case.hosts.items() if host == label),
                trial=self._trials.get(label),
                clock=self._clocks.get(label),
                moved_s=self._moved.get(label),
                traffic=self._traffic.get(label, {}),
                hard_facts=self._facts.get(label),
                loads=label == self._load,
                links=self._links.get(label, {}),
                started_s=self._started_s.get(label),
                reading=self._reading(label),
                before=self._before(label),
                serves=label == self._server,
            )
            for label in self._labels
        }


HOSTS = Way(
    start=_HostsTrial.start,
    ask=_HostsTrial.ask,
    warm_up=_HostsTrial.warm_up,
    load=each(_HostsTrial.load),
    finish=_HostsTrial.finish,
)
