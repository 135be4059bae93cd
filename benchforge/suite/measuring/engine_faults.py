"""What a suite has to say of its hosts for its engine to reach them, each with its place."""

import re
from collections.abc import Iterator

from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import Fault

_OPTIONS = ("scheduler", "ca", "certificate", "key")


def faults(suite: Suite) -> Iterator[Fault]:
    """Yield what the engines `ssh` and `dask` miss, or would not look at."""
    engine = suite.engine
    if engine.use == "ssh":
        for option in _OPTIONS:
            if getattr(engine, option) is not None:
                yield Fault(("engine", option), "the engine ssh has none", 'set use = "dask"')
    elif engine.use == "dask":
        yield from _of_dask(suite)
    else:
        return
    wanted, other = ("ssh", "worker") if engine.use == "ssh" else ("worker", "ssh")
    for label, host in suite.hosts.items():
        if getattr(host, wanted) is None:
            hint = f'write {wanted} = "..." in [hosts.{label}]'
            yield Fault(("hosts", label), f"the engine {engine.use} needs {wanted!r}", hint)
        if getattr(host, other) is not None:
            message = f"the engine {engine.use} does not use it"
            hint = (
                f'leave it out, or set use = "{"dask" if other == "worker" else "ssh"}" in [engine]'
            )
            yield Fault(("hosts", label, other), message, hint)
        if engine.use == "dask" and host.address is None:
            hint = "write the IPv4 address at which other hosts reach it"
            yield Fault(("hosts", label), "the engine dask needs 'address'", hint)


def _of_dask(suite: Suite) -> Iterator[Fault]:
    for option in _OPTIONS:
        if getattr(suite.engine, option) is None:
            hint = "the scheduler and benchforge show each other a certificate"
            yield Fault(("engine",), f"the engine dask needs {option!r}", hint)
    address = suite.engine.scheduler
    if address is not None and not re.fullmatch(r"tls://[^\s/]+:\d{1,5}", address):
        hint = 'such as "tls://10.0.0.1:8786": without TLS, all on the network could run programs'
        yield Fault(("engine", "scheduler"), "not an address of a scheduler with TLS", hint)
