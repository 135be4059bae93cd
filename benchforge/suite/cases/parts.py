"""The parts of a suite as they are at its points, without its cases."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchforge.model.values.case_name import Role
from benchforge.parts.fillable import WrongOption
from benchforge.parts.part import Part, ServesCode
from benchforge.suite.matrix import ROLES, Point, about, part_at, projected, reaching
from benchforge.suite.scenarios.references import behind, fronts, leading, reached
from benchforge.suite.suite import Declared, Scenario, Suite
from benchforge.suite.toml.faults import Fault

NO_REPOSITORY = "not in a git repository"
WITHOUT = "name a directory in a git repository, or leave 'ref' out to serve the files as they are"


def distinct_parts(suite: Suite) -> Iterator[Part]:
    """Yield each part that takes part in a trial: once for each label and what varies of it."""
    return (part for _, _, part in _distinct(suite))


def parts_on(suite: Suite, host: str | None) -> Iterator[Part]:
    """Yield the distinct parts of a host; None is this machine."""
    return (part for host_label, _, part in _distinct(suite) if host_label == host)


def uses_hosts(suite: Suite) -> bool:
    """Return True if a part that a scenario names has a host."""
    return bool(suite.hosts) and any(host is not None for host, _, _ in _distinct(suite))


def parts_by_scenario(suite: Suite) -> Iterator[tuple[str, str, Part]]:
    """Yield scenario, table with label, and part: what `distinct_parts` yields of each scenario."""
    for label, scenario in suite.scenarios.items():
        for _, key, part in _distinct(replace(suite, scenarios={label: scenario})):
            yield label, key, part


def roles_of(suite: Suite) -> set[Role]:
    """Return the roles that the parts of a suite have."""
    return {role for scenario in suite.scenarios.values() for role, *_ in _placed(suite, scenario)}


def _distinct(suite: Suite) -> Iterator[tuple[str | None, str, Part]]:
    digests: set[bytes] = set()
    for scenario in suite.scenarios.values():
        for role, table, declaration, point in _placed(suite, scenario):
            concerned = reaching(point, table, declaration)
            for host in suite.hosts_of(role, declaration) or (None,):
                text = json.dumps([host, table, declaration.label, concerned], sort_keys=True)
                digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
                if digest not in digests:
                    digests.add(digest)
                    part = part_at(declaration, table, concerned)
                    yield host, f"{table}.{declaration.label}", part


def _placed(suite: Suite, scenario: Scenario) -> Iterator[tuple[Role, str, Declared, Point]]:
    for table, role in ROLES.items():
        for label in getattr(scenario, table):
            declaration = getattr(suite, table)[label]
            for point in projected(scenario, about(scenario, table, declaration)):
                yield role, table, declaration, point
    standing = fronts(scenario.servers, suite.servers)
    for label in reached(scenario, suite.servers).labels:
        declaration = suite.servers[label]
        paths = leading(scenario, suite.servers) | set(about(scenario, "servers", declaration))
        for point in projected(scenario, paths):
            if any(label in behind(front, suite.servers, point) for front in standing):
                yield "upstream", "servers", declaration, point


def ref_faults(servers: Mapping[str, Declared], folder: Path) -> Iterator[Fault]:
    """Yield a fault for each server that names a commit where there is no repository."""
    for label, declaration in servers.items():
        if not isinstance(declaration.part, ServesCode) or declaration.part.ref is None:
            continue
        code = declaration.part.code(folder)
        if code is not None and repository(code) is None:
            yield Fault(("servers", label, "ref"), f"{code}: {NO_REPOSITORY}", WITHOUT)


def repository(folder: Path) -> Path | None:
    """Return the folder with `.git` that a folder is in, or would be; None where there is none."""
    folder = folder.resolve()
    return next((outer for outer in (folder, *folder.parents) if (outer / ".git").exists()), None)


def code_faults(suite: Suite) -> Iterator[Fault]:
    """Yield a fault for each server whose code is not there, at all points of the matrix."""
    for _, key, part in parts_by_scenario(suite):
        if not isinstance(part, ServesCode) or part.ref is not None:
            continue
        try:
            part.check_code(suite.path.parent)
        except WrongOption as error:
            table, _, label = key.partition(".")
            written = (option for option in error.options if option in part.model_fields_set)
            yield Fault((table, label, *islice(written, 1)), error.message, error.hint)
