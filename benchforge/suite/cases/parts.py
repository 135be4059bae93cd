"""The parts of a suite as they are at its points, without its cases."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

from benchforge.parts.part import Part
from benchforge.suite.matrix.axis import PLACES, Point, part_at, reaching
from benchforge.suite.matrix.points import about, projected
from benchforge.suite.scenarios.upstreams import behind, fronts, leading, reached
from benchforge.suite.suite import Declared, Scenario, Suite


def distinct_parts(suite: Suite) -> Iterator[Part]:
    """Yield each part that takes part in a trial: once for each label and what varies of it."""
    return (part for _, part in _distinct(suite))


def parts_by_scenario(suite: Suite) -> Iterator[tuple[str, str, Part]]:
    """Yield scenario, table with label, and part: what `distinct_parts` yields of each scenario."""
    for label, scenario in suite.scenarios.items():
        for place, part in _distinct(replace(suite, scenarios={label: scenario})):
            yield label, place, part


def _distinct(suite: Suite) -> Iterator[tuple[str, Part]]:
    seen: set[bytes] = set()
    for scenario in suite.scenarios.values():
        for place, declaration, point in _placed(suite, scenario):
            concerned = reaching(point, place, declaration)
            text = json.dumps([place, declaration.label, concerned], sort_keys=True)
            digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
            if digest not in seen:
                seen.add(digest)
                yield f"{place}.{declaration.label}", part_at(declaration, place, concerned)


def _placed(suite: Suite, scenario: Scenario) -> Iterator[tuple[str, Declared, Point]]:
    """Yield table, part and point of all that a scenario names, and of what stands behind it."""
    for place in PLACES:
        for label in getattr(scenario, place):
            declaration = getattr(suite, place)[label]
            for point in projected(scenario, about(scenario, place, declaration)):
                yield place, declaration, point
    standing = fronts(scenario.servers, suite.servers)
    for label in reached(scenario, suite.servers).labels:
        declaration = suite.servers[label]
        paths = leading(scenario, suite.servers) | set(about(scenario, "servers", declaration))
        for point in projected(scenario, paths):
            if any(label in behind(front, suite.servers, point) for front in standing):
                yield "servers", declaration, point
