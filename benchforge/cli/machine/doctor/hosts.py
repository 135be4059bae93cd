"""`benchforge doctor --hosts`: connections to hosts, and the needs of their parts."""

from benchforge.cli.console.lock import waits
from benchforge.cli.console.say import say, show
from benchforge.errors import Unusable
from benchforge.remote.engine import on_hosts
from benchforge.run.checkout import with_code
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.machine_lock import measuring
from benchforge.run.trial.context import ground
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import uses_hosts
from benchforge.suite.plan import plan
from benchforge.suite.suite import Suite
from benchforge.text.readable import amount, counted, figure


def look_at_hosts(suite: Suite) -> int:
    """Connect all hosts, and print them and their links. Raises Unusable where a host lacks."""
    if not uses_hosts(suite):
        raise Unusable("--hosts: no part of the suite has a host", "see [hosts.LABEL] and host")
    suite = with_code(suite, LocalHost())
    graph = plan(expand(suite), suite.repeat, 0)
    with measuring(waits), on_hosts(suite, graph, ground(suite, ()), say) as context:
        for label, host in context.hosts.items():
            memory = host.facts.get("memory_kb")
            size = f", {figure(memory / (1 << 20))} GiB" if isinstance(memory, int) else ""
            facts = f"{host.facts.get('cpus_usable')} CPUs{size}, {host.facts.get('system')}"
            show(f"ok  {label}: {facts}, Python {host.facts.get('python')}: its parts lack nothing")
            for other, link in host.links.items():
                rate = figure(link.bytes_per_s * 8 / 1e6)
                trip = amount("s", link.round_trip_s)
                show(f"ok  {label} to {other}: {rate} Mbit/s, round trip {trip}")
        for label, runtime in context.runtimes.items():
            interpreter = f"{runtime.facts.implementation} {runtime.facts.version}"
            packages = counted(len(runtime.facts.packages), "package")
            show(f"ok  runtime {label}: {interpreter}, {packages}, the same on all of its hosts")
    return 0
