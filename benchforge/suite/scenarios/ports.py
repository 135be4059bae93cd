"""Ports that options set: parts of one trial cannot share any."""

from collections.abc import Iterator, Mapping

from benchforge.parts.part import Service
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.toml.faults import Fault


def port_faults(
    scenarios: Mapping[str, Scenario], parts: Mapping[str, Mapping[str, Declared]]
) -> Iterator[Fault]:
    """Yield each port that two backends of a scenario have, or a backend and a server."""
    for scenario in scenarios.values():
        taken: dict[int, str] = {}
        used = [("backends", one) for one in scenario.backends]
        for table, label in (*used, *(("servers", one) for one in scenario.servers)):
            part = parts[table][label].part if label in parts[table] else None
            for port in part.fixed_ports().values() if isinstance(part, Service) else ():
                if port in taken:
                    message = f"port {port} is the port of {taken[port]}, too"
                    yield Fault((table, label, "port"), message, "choose another port")
                elif table == "backends":
                    taken[port] = f"backends.{label}"
