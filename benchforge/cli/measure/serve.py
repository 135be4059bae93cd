"""`benchforge serve`: one server of a suite, with its backends, until it is asked to end."""

import contextlib
import errno
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from benchforge.cli import Interrupted
from benchforge.cli.options import pairs
from benchforge.cli.say import say, show
from benchforge.errors import CannotKeep, TrialFailed, Unusable
from benchforge.registry import Registry
from benchforge.run.code import checked_out, with_code
from benchforge.run.ground import Ground, ground, with_runtimes
from benchforge.run.leftovers import cleared
from benchforge.run.measure import tuned
from benchforge.run.processes import holders, named
from benchforge.run.scratch import PREFIX, claimed, stays
from benchforge.run.serve import Served, serving
from benchforge.suite.case import Case
from benchforge.suite.expand import expand
from benchforge.suite.faults import listed, nearest
from benchforge.suite.load import load
from benchforge.suite.redact import redact
from benchforge.suite.suite import Suite

ADDRESS = "127.0.0.1"
_PORT = click.IntRange(1, 65535)


@click.command("serve")
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("server")
@click.option("--port", type=_PORT, metavar="N", help="Serve HTTP there; else at a free port.")
@click.option("--tls-port", type=_PORT, metavar="N", help="Serve HTTPS there.")
@click.option("--profile", metavar="NAME", help="Apply [profiles.NAME] of the suite.")
@click.option("--set", "settings", metavar="PATH=VALUE", multiple=True, help="Change an option.")
@click.option("--scenario", metavar="NAME", help="Serve for this one, not the first that fits.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Keep the logs below it.")
def command(
    suite: Path,
    server: str,
    port: int | None,
    tls_port: int | None,
    profile: str | None,
    settings: tuple[str, ...],
    scenario: str | None,
    output: Path | None,
) -> int:
    """Start SERVER of SUITE with its backends on loopback, and stay until Ctrl-C or TERM.

    It is asked what its scenario asks for, and told on stdout once the answer is right. It may run
    beside a measurement: people start it for tools that measure.

    Exit codes: 0 it served until it was asked to end; 2 the suite or the command line cannot be
    used; 3 a program is missing; 4 it did not answer rightly, or ended by itself; 5 its logs cannot
    be written; 130 and 143 interrupted before it served.
    """
    only = () if scenario is None else (scenario,)
    asked = load(suite, Registry(), profile=profile, settings=pairs(settings), only=only)
    case = _case(asked, server)
    ports = _ports(case, {"http": port, "https": tls_port})
    stands_on = ground(asked, case.services)
    if left := cleared():
        say(left)
    started = [case.name.server, *(label for label, _ in case.upstreams)]
    asked = with_code(asked, stands_on.host, started)
    stands_on = with_runtimes(stands_on, asked, case.services, say)
    labels: list[str] = []
    try:
        with checked_out(asked, stands_on, say) as stands_on, _logs(output, server) as folder:
            say(f"starting {_told(case, asked)}; logs in {folder}")
            with serving(case, stands_on, folder, ports) as served:
                labels = [one.site.label for one in reversed(served.services) if one.running]
                if tls_port is not None and not served.root.startswith("https:"):
                    raise _no_tls(tls_port, server)
                _tell(case, stands_on, served)
                raise served.ended()
    except Interrupted as signal:
        if not labels:
            say("interrupted: nothing was served")
            return signal.exit_code
        say(f"stopped: {', '.join(labels)}")
    return 0


def _told(case: Case, suite: Suite) -> str:
    """For a person: what is started, and what else could have been."""
    name, every = case.name, list(expand(suite))
    scenarios = [one.name.scenario for one in every if one.name.server == name.server]
    others = listed([one for one in dict.fromkeys(scenarios) if one != name.scenario])
    varied = [f"{path} = {value}" for path, value in name.vary.items()]
    told = f"{name.server} for scenario {', '.join([name.scenario, *varied])}"
    return f"{told} (--scenario has also: {others})" if others != "none" else told


def _case(suite: Suite, server: str) -> Case:
    """Return the first case of a server, with the backends of all: who looks may ask for anything.

    Raises Unusable when there is none that can be started.
    """
    if server not in suite.servers:
        hint = nearest(server, suite.servers, "servers")
        raise Unusable(f"{suite.path}: no server {server!r} is declared", hint)
    cases = [case for case in expand(suite) if case.name.server == server]
    if not cases:
        known = listed(list(suite.scenarios))
        hint = "name it in a scenario, which says what is asked and which backends there are"
        raise Unusable(f"servers.{server}: no scenario names it; looked at: {known}", hint)
    backends = {label: part for case in reversed(cases) for label, part in case.backends}
    case = replace(cases[0], backends=tuple(backends.items()))
    if case.server.outside():
        hint = "ask it where it is; benchforge starts what is declared with a command"
        raise Unusable(f"servers.{server}: it runs already, outside", hint)
    return case


def _ports(case: Case, wished: dict[str, int | None]) -> dict[str, int]:
    """Return the ports that are asked for. Raises Unusable for one that cannot be had."""
    ports = {name: number for name, number in wished.items() if number is not None}
    for name, number in ports.items():
        option = f"--{'tls-' if name == 'https' else ''}port {number}"
        if name not in case.server.ports:
            if name == "https":
                raise _no_tls(number, case.name.server)
            hint = f"its ports are: {', '.join(case.server.ports) or 'none'}"
            raise Unusable(f"{option}: servers.{case.name.server} speaks no {name.upper()}", hint)
        if reason := _taken(number):
            raise Unusable(f"{option}: {reason}", "choose another, or none for a free one")
    return ports


def _no_tls(port: int, server: str) -> Unusable:
    return Unusable(
        f"--tls-port {port}: servers.{server} speaks no HTTPS",
        f"serve nginx with tls = true; before a server: use = 'nginx', upstream = {server!r}",
    )


def _taken(port: int) -> str:
    """Return why a port cannot be had; "" when it can."""
    with socket.socket() as trying:
        trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            trying.bind((ADDRESS, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return f"{error.strerror}"
            who = ", ".join(map(named, holders(port)))
            return f"the port is taken by {who or 'a process that cannot be seen from here'}"
    return ""


@contextlib.contextmanager
def _logs(output: Path | None, server: str) -> Iterator[Path]:
    """Give a folder for the logs: a new one below `output`, or one that goes with the server.

    It stays when something failed. Raises CannotKeep when it cannot be made.
    """
    own = contextlib.ExitStack()
    try:
        if output is None:
            folder = own.enter_context(claimed(Path(tempfile.gettempdir()), f"{PREFIX}serve-"))
        else:
            folder = output / f"serve-{server}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        where = error.filename or output
        raise CannotKeep(f"{where}: {error.strerror}", "choose another folder with -o") from error
    keep = True
    try:
        yield folder
    except TrialFailed as error:
        for line in error.log.splitlines():
            say(f"  | {line}")
        say(f"logs are kept in {folder}")
        raise
    except OSError as error:
        raise CannotKeep(f"{error.filename or folder}: {error.strerror}", "see its disk") from error
    except (Interrupted, Unusable):
        keep = output is not None
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        elif output is None:
            stays(folder)
        own.close()


def _tell(case: Case, stands_on: Ground, served: Served) -> None:
    """Say what came of the tuning, and print where the server, and all behind it, is."""
    if came := tuned(served.mode):
        say(f"tuning: {came.told}")
    request, answer = case.request, served.answer
    lines = [
        f"{case.name.server}: {served.root}",
        f"{request.method} {request.path}: {answer.status}, {answer.length} bytes",
        *(
            f"{one.site.label}: {one.part.gives(one.site).get('url', 'has no URL')}"
            for one in served.services[:-1]
        ),
    ]
    show(redact("\n".join(lines), stands_on.secrets))
    say("it serves until Ctrl-C")
