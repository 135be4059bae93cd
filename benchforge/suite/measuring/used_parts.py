"""What a scenario starts: each part with its role and its hosts."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from benchforge.model.trial.observation import Role
from benchforge.suite.scenarios.upstreams import reached
from benchforge.suite.suite import Declared, Scenario, Suite

ROLES: Mapping[str, Role] = {
    "servers": "server",
    "backends": "backend",
    "loaders": "loader",
    "clients": "loader",
}
"Role of the parts that a scenario names, by their table."


class UsedPart(NamedTuple):
    """A part that a scenario starts."""

    role: Role
    table: str
    part: Declared
    hosts: tuple[str, ...]
    "Several for a load that is divided, none for benchforge's own machine."


def used(suite: Suite, scenario: Scenario) -> Iterator[UsedPart]:
    """Yield all parts that a scenario names, and the servers behind those."""
    for table, role in ROLES.items():
        for label in getattr(scenario, table):
            if (part := getattr(suite, table).get(label)) is not None:
                yield UsedPart(role, table, part, suite.hosts_of(role, part))
    for label in reached(scenario, suite.servers).labels:
        part = suite.servers[label]
        yield UsedPart("upstream", "servers", part, suite.hosts_of("upstream", part))
