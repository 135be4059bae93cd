"""One server of a suite, with its backends, from its start to the signal that ends it."""

import contextlib
import errno
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchforge.cli.console.say import say, show
from benchforge.cli.console.signals import Interrupted
from benchforge.errors import CannotKeep, TrialFailed, Unusable, can_write
from benchforge.run.addresses import check_addresses
from benchforge.run.checkout import checked_out, with_code
from benchforge.run.disk.hide import PRIVATE, hide_below
from benchforge.run.disk.leftovers import cleared
from benchforge.run.disk.scratch import PREFIX, claimed, scratch_folder, stays
from benchforge.run.sandbox.procfs import holders, named
from benchforge.run.trial.context import TrialContext, TrialInputs, ground, with_runtimes
from benchforge.run.trial.scope import TrialRecorder, TrialScope, trial_scope, tuned
from benchforge.run.trial.stages.ask import AnsweringServer, ask
from benchforge.run.trial.stages.order import together
from benchforge.run.trial.stages.start import failed, start, stop
from benchforge.suite.cases.case import Case
from benchforge.suite.cases.expand import expand
from benchforge.suite.plan import Measurement
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import nearest
from benchforge.text.readable import listed

LOOK_EVERY_S = 0.5
_HASH_SEED = 0  # nothing is compared with another run

ADDRESS = "127.0.0.1"


@dataclass(frozen=True)
class Served:
    """Running services; the right answer of the server is the only one of its scope."""

    scope: TrialScope
    answering: AnsweringServer

    def ended(self) -> TrialFailed:
        """Sleep until a service ends by itself, and return its failure."""
        server = self.answering.services[-1].running
        while True:
            for serving in reversed(self.answering.services):
                if serving.running and (end := self.scope.sandbox.finished(serving.running)):
                    return failed(serving, f"ended by itself with exit code {end.code}")
            if server is not None:
                self.scope.sandbox.wait(server, LOOK_EVERY_S)


@contextlib.contextmanager
def serving(
    case: Case, context: TrialContext, folder: Path, ports: Mapping[str, int]
) -> Iterator[Served]:
    """Start a case's services, and stop them on leaving, whatever is the reason.

    `folder` keeps their logs; `ports` has the server's fixed ports by name. Raises TrialFailed
    where one does not start, or the answer to the case's request is wrong.
    """
    # A person uses these services: they write where they like, on the person's network.
    context = replace(context, network="host", writes=None)
    step = Measurement(block=1, position=1, case=case, seed=_HASH_SEED)
    inputs, recorder = TrialInputs(step, folder.resolve(), number=1), TrialRecorder(lambda _: None)
    recorder.load = case.driver.load()
    with scratch_folder() as scratch, trial_scope(inputs, context, recorder, scratch) as scope:
        try:
            (services,) = together([scope], [start(scope, ports)])
            yield Served(scope, ask(scope, services))
        finally:
            stop([scope])


def serve(
    suite: Suite, server: str, port: int | None, tls_port: int | None, output: Path | None
) -> int:
    """Start a server of a suite until a signal, with logs below `output`. Return the exit code."""
    case = _case(suite, server)
    if case.hosts:
        hint = "leave out host and [placement.hosts] to serve on this machine"
        raise Unusable(f"serve: {server} runs on host {case.hosts[f'server-{server}']}", hint)
    ports = _ports(case, {"http": port, "https": tls_port})
    stands_on = ground(suite, case.services)
    if cleared_places := cleared():
        say(cleared_places)
    started = [case.name.server, *(label for label, _ in case.upstreams)]
    suite = with_code(suite, stands_on.host, started)
    check_addresses(_alone(suite, case), stands_on)
    stands_on = with_runtimes(stands_on, suite, case.services, say)
    labels: list[str] = []
    try:
        with (
            checked_out(suite, stands_on, say) as stands_on,
            _logs(output, server, suite.secrets) as folder,
        ):
            say(f"starting {_described(case, suite)}; logs in {folder}")
            with serving(case, stands_on, folder, ports) as served:
                services = reversed(served.answering.services)
                labels = [serving.site.label for serving in services if serving.running]
                if tls_port is not None and not served.answering.probe.encrypted:
                    raise _no_tls(tls_port, server)
                _tell(case, stands_on, served)
                raise served.ended()
    except Interrupted as signal:
        if not labels:
            say("interrupted: nothing was served")
            return signal.exit_code
        say(f"stopped: {', '.join(labels)}")
    return 0


def _alone(suite: Suite, case: Case) -> Suite:
    """Return the suite with the parts that start, in the network of a person."""
    scenario = suite.scenarios[case.name.scenario].model_copy(
        update={"servers": (case.name.server,), "backends": tuple(dict(case.backends))}
    )
    return replace(suite, network="host", scenarios={case.name.scenario: scenario})


def _described(case: Case, suite: Suite) -> str:
    name, names = case.name, [case.name for case in expand(suite)]
    scenarios = dict.fromkeys(other.scenario for other in names if other.server == name.server)
    others = listed([scenario for scenario in scenarios if scenario != name.scenario])
    varied = [f"{path} = {value}" for path, value in name.vary.items()]
    description = f"{name.server} for scenario {', '.join([name.scenario, *varied])}"
    return f"{description} (--scenario has also: {others})" if others != "none" else description


def _case(suite: Suite, server: str) -> Case:
    """Return a server's first case, with the backends of all. Raises Unusable if none can start."""
    if server not in suite.servers:
        hint = nearest(server, suite.servers, "servers")
        raise Unusable(f"{suite.path}: no server {server!r} is declared", hint)
    cases = [case for case in expand(suite) if case.name.server == server]
    if not cases:
        scenarios = listed(list(suite.scenarios))
        hint = "name it in a scenario, which declares the request and the backends"
        raise Unusable(f"servers.{server}: no scenario names it; scenarios: {scenarios}", hint)
    backends = {label: part for case in reversed(cases) for label, part in case.backends}
    case = cases[0]._replace(backends=tuple(backends.items()))
    if case.server.outside():
        hint = "use its URL; benchforge starts only servers that are declared with a command"
        raise Unusable(f"servers.{server}: it runs already, outside benchforge", hint)
    return case


def _ports(case: Case, wished: dict[str, int | None]) -> dict[str, int]:
    """Return the ports that have a number. Raises Unusable for one that the server cannot have."""
    ports = {name: number for name, number in wished.items() if number is not None}
    for name, number in ports.items():
        option = f"--{'tls-' if name == 'https' else ''}port {number}"
        if name not in case.server.ports:
            if name == "https":
                raise _no_tls(number, case.name.server)
            hint = f"its ports are: {', '.join(case.server.ports) or 'none'}"
            raise Unusable(f"{option}: servers.{case.name.server} speaks no {name.upper()}", hint)
        if number != (fixed := case.server.fixed_ports().get(name, number)):
            hint = f"leave {option} out, or change the option port of the server"
            raise Unusable(f"{option}: servers.{case.name.server} listens on port {fixed}", hint)
        if reason := _taken(number):
            hint = "choose another port, or leave it out for a free one"
            raise Unusable(f"{option}: {reason}", hint)
    return ports


def _no_tls(port: int, server: str) -> Unusable:
    return Unusable(
        f"--tls-port {port}: servers.{server} speaks no HTTPS",
        f"serve nginx with tls = true; before a server: use = 'nginx', upstream = {server!r}",
    )


def _taken(port: int) -> str:
    """Return why a server cannot have a port; empty if it can."""
    with socket.socket() as trying:
        trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            trying.bind((ADDRESS, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return f"{error.strerror}"
            who = ", ".join(map(named, holders(port)))
            return f"the port is taken by {who or 'a process that is not visible'}"
    return ""


@contextlib.contextmanager
def _logs(output: Path | None, server: str, secrets: frozenset[str]) -> Iterator[Path]:
    """Give a folder for the logs: a new one below `output`, or one that goes with the server.

    It stays after a failure. Raises CannotKeep where nobody can write it.
    """
    stack = contextlib.ExitStack()
    with can_write(output, "choose another folder with -o"):
        if output is None:
            folder = stack.enter_context(claimed(Path(tempfile.gettempdir()), f"{PREFIX}serve-"))
        else:
            folder = output / f"serve-{server}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(PRIVATE, exist_ok=True)
    keeps_logs = True
    try:
        yield folder
    except TrialFailed as error:
        for line in error.log.splitlines():
            say(f"  | {line}")
        say(f"logs are kept in {folder}")
        raise
    except OSError as error:
        where = error.filename or folder
        raise CannotKeep(f"{where}: {error.strerror}", "check its disk") from error
    except (Interrupted, Unusable):
        keeps_logs = output is not None
        raise
    finally:
        if not keeps_logs:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            hide_below(folder, secrets)
            if output is None:
                stays(folder)
        stack.close()


def _tell(case: Case, stands_on: TrialContext, served: Served) -> None:
    """Report the tuning, and print the addresses of the server and its backends."""
    if came := tuned(served.scope.sandbox.mode):
        say(f"tuning: {came.in_words}")
    request, answering, (answer,) = case.request, served.answering, served.scope.recorder.answers
    lines = [
        f"{case.name.server}: {answering.probe.root}",
        f"{request.method} {request.path}: {answer.status}, {answer.length} bytes",
    ]
    for serving in answering.services[:-1]:
        url = serving.part.gives(serving.site).get("url", "has no URL")
        lines.append(f"{serving.site.label}: {url}")
    show("\n".join(lines))
    say("running until Ctrl-C")
