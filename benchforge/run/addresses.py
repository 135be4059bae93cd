"""Host names and fixed ports of a suite, tried in a place such as a trial's before a run."""

import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchforge.parts.command import Command
from benchforge.parts.part import Service
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.sandbox.host import Network, Sandbox, Wishes
from benchforge.run.sandbox.procfs import holders, named
from benchforge.run.trial.context import TrialContext
from benchforge.suite.cases.parts import parts_by_scenario, uses_hosts
from benchforge.suite.secrets import redact
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import Fault, SuiteErrors
from benchforge.suite.toml.source import located

_RESOLVES = "import socket, sys; sys.exit(socket.gethostbyname(sys.argv[1]) != sys.argv[2])"
_WITHIN_S = 60.0
_NO_NAME = "allow benchforge to make namespaces (see benchforge doctor), or leave names out"
_NO_PORT = 'end that process or use another port; with network = "private" a trial has all ports'

_Part = tuple[str, str]
"Table and label."
_Wanted = dict[_Part, dict[str | int, None]]
"Host names and ports of each part."


def check_addresses(suite: Suite, context: TrialContext) -> None:
    """Raise SuiteErrors for host names that no trial would resolve, and for ports in use."""
    if uses_hosts(suite):  # the engine refuses what hosts cannot have
        return
    uses = [(label, key, p) for label, key, p in parts_by_scenario(suite) if isinstance(p, Service)]
    outside = {scenario for scenario, _, part in uses if part.outside()}
    wanted: dict[Network, _Wanted] = {}
    for scenario_, key_, part in uses:
        table, _, label = key_.partition(".")
        network: Network = "host" if scenario_ in outside else suite.network
        values: tuple[str | int, ...] = (*part.fixed_ports().values(), *part.host_names())
        for value in values:
            wanted.setdefault(network, {}).setdefault((table, label), {})[value] = None
    faults = [fault for net, names in wanted.items() for fault in _faults(context, net, names)]
    if faults:
        hide = partial(redact, secrets=suite.secrets)
        words = [(fault.path, fault.message, fault.hint) for fault in faults]
        raise SuiteErrors([located(suite.document, *word, hide=hide) for word in words])


def _faults(context: TrialContext, network: Network, wanted: _Wanted) -> Iterator[Fault]:
    names = [value for values in wanted.values() for value in values if isinstance(value, str)]
    with (
        scratch_folder() as folder,
        context.host.trial(folder, network, Wishes(scratch=folder, names=names)) as sandbox,
    ):
        weaker = "".join(f"; {reason}" for reason in sandbox.mode.weaker)
        for part, values in wanted.items():
            strange: list[str] = []
            for value in values:
                if isinstance(value, int) and (reason := _refusal(sandbox, value)):
                    message = f"a trial cannot listen on port {value}: {reason}{weaker}"
                    yield Fault((*part, "port"), message, _NO_PORT)
                elif isinstance(value, str) and not _resolves(sandbox, context, folder, value):
                    strange.append(value)
            if strange:
                message = f"programs of a trial cannot resolve {', '.join(strange)}{weaker}"
                yield Fault((*part, "names"), message, _NO_NAME)


def _resolves(sandbox: Sandbox, context: TrialContext, folder: Path, name: str) -> bool:
    command = Command(context.python, "-I", "-S", "-c", _RESOLVES, name, sandbox.address)
    return sandbox.run("name", command, folder, {}, _WITHIN_S).code == 0


def _refusal(sandbox: Sandbox, port: int) -> str:
    with sandbox.socket() as inside:
        inside.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            inside.bind((sandbox.address, port))
        except OSError as error:
            by = ", ".join(map(named, holders(port)))
            return f"{str(error.strerror).lower()}{f' by {by}' if by else ''}"
    return ""
