"""Points of a scenario's matrix, numbered in the order of the file, and made when they are used."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Generic, TypeVar

from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Request
from benchforge.model.values.case_name import Role
from benchforge.parts.part import Part
from benchforge.suite.suite import Declared, Scenario
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.models import typed

Point = Mapping[str, JsonValue]
"What varies, by its path in the suite, to its value."

ROLES: Mapping[str, Role] = {
    "servers": "server",
    "backends": "backend",
    "loaders": "loader",
    "clients": "loader",
}
"Role of the parts that a scenario names, by their table."

_VARIABLE = re.compile(r"\{([A-Za-z_]\w*)\}")

T = TypeVar("T")

_KEPT = 1024  # of what is made: points come in order, so that little is made twice


@dataclass(frozen=True)
class Axis:
    """A path of `vary`, understood."""

    place: str
    "A table of parts, or `path`."
    label: str
    "Label of a part, `*` for all of them, or the name of a path variable."
    option: tuple[str, ...] = ()
    "An option, and keys inside it."

    def reaches(self, table: str, declaration: Declared) -> bool:
        """Tell whether a part of the table `table` has the option."""
        if self.place != table or self.label not in {"*", declaration.label}:
            return False
        fields = declaration.cls.model_fields.items()
        return any(self.option[0] == (field.alias or name) for name, field in fields)


@lru_cache(maxsize=1024)
def axis(path: str) -> Axis | None:
    """Understand a path of `vary`; None where it has another form."""
    match path.split("."):
        case ["path", variable]:
            return Axis("path", variable)
        case [place, label, *option] if place in ROLES and all([label, *option]) and option:
            return Axis(place, label, tuple(option))
        case _:
            return None


def reaching(point: Point, table: str, part: Declared) -> dict[str, JsonValue]:
    """Return what of a point is about a part of the table `table`."""
    axes = ((path, axis(path), value) for path, value in point.items())
    return {path: value for path, varied, value in axes if varied and varied.reaches(table, part)}


def moved(declaration: Declared, point: Point) -> Tables:
    """Return the options of a part at a point, all of which is about that part."""
    options: Tables = dict(declaration.options)
    for path, value in point.items():
        if varied := axis(path):
            options = _put(options, varied.option, value)
    return options


def part_at(declaration: Declared, table: str, point: Point) -> Part:
    """Return a part of the table `table` at a point. Raises pydantic's ValidationError."""
    return part_with(declaration, reaching(point, table, declaration))


def part_with(declaration: Declared, concerned: Point) -> Part:
    """Return a part with what of a point is about it. Raises pydantic's ValidationError."""
    if not concerned:
        return declaration.part
    return typed(declaration.cls, moved(declaration, concerned))


def _put(table: JsonValue, keys: tuple[str, ...], value: JsonValue) -> Tables:
    inner = table if isinstance(table, dict) else {}
    key, *rest = keys
    return {**inner, key: _put(inner.get(key), tuple(rest), value) if rest else value}


def variables(request: Request) -> tuple[str, ...]:
    """Return the variables of a request's path."""
    return tuple(dict.fromkeys(_VARIABLE.findall(request.path)))


def filled(request: Request, point: Point) -> tuple[Request, dict[str, JsonValue]]:
    """Return the request with its variables filled in, and those. Raises ValidationError."""
    taken = {path: point[path] for name in variables(request) if (path := f"path.{name}") in point}
    if not taken:
        return request, taken
    path = _VARIABLE.sub(lambda match: str(taken.get(f"path.{match[1]}", match[0])), request.path)
    return typed(Request, request.model_dump(mode="json") | {"path": path}), taken


class Matrix:
    """The points of a scenario by number: each combination of `vary`, then what `include` adds.

    The last path changes fastest. An entry of `exclude` excludes what has all of its values.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.vary = scenario.vary
        self.include = scenario.include
        self.combinations = combinations(scenario)
        self.steps: dict[str, int] = {}
        "By path: after how many combinations its next value comes."
        step = self.combinations
        for path, values in self.vary.items():
            step //= len(values)
            self.steps[path] = step
        self._axes = [(path, self.steps[path], len(axis), axis) for path, axis in self.vary.items()]
        self._excluded = [
            [(self.steps[path], self.vary[path], value) for path, value in exclusion.items()]
            for exclusion in _telling(scenario)
        ]

    def numbers(self) -> Iterator[int]:
        """Yield the number of each point but the excluded ones."""
        combined = range(self.combinations)
        yield from filter(self._is_left, combined) if self._excluded else combined
        yield from range(self.combinations, self.combinations + len(self.include))

    def _is_left(self, number: int) -> bool:
        return not any(
            all(values[number // step % len(values)] == value for step, values, value in exclusion)
            for exclusion in self._excluded
        )

    def point(self, number: int, paths: Collection[str]) -> dict[str, JsonValue]:
        """Return what a point says of some paths."""
        if number >= self.combinations:
            included = self.include[number - self.combinations].items()
            return {path: value for path, value in included if path in paths}
        axes = (axis for axis in self._axes if axis[0] in paths)
        return {path: values[number // step % size] for path, step, size, values in axes}


class Projection:
    """What the points of a matrix say of some paths: one key for all points that say the same."""

    def __init__(self, matrix: Matrix, paths: Collection[str]) -> None:
        self._own = {path: values for path, values in matrix.vary.items() if path in paths}
        self._weights: dict[str, int] = {}
        weight = 1
        for path, values in reversed(self._own.items()):
            self._weights[path] = weight
            weight *= len(values)
        self._digits: list[tuple[int, int, int]] = []
        for path, values in self._own.items():
            step, size = matrix.steps[path], len(values)
            if self._digits and self._digits[-1][0] == step * size:
                size *= self._digits.pop()[1]  # axes that are neighbours are one number
            self._digits.append((step, size, self._weights[path]))
        self._combinations = matrix.combinations
        self._keys = weight
        self._included = [
            {path: value for path, value in point.items() if path in paths}
            for point in matrix.include
        ]
        self._keys_included = list(self._of_included())
        self.size = weight + len(self._included)
        "Every key is below it."

    def key(self, number: int) -> int:
        """Return the key of a point by its number."""
        if number >= self._combinations:
            return self._keys_included[number - self._combinations]
        key = 0
        for step, size, weight in self._digits:
            key += number // step % size * weight
        return key

    def point(self, key: int) -> Point:
        """Return what the points of a key say."""
        if key >= self._keys:
            return self._included[key - self._keys]
        axes = self._own.items()
        return {path: values[key // self._weights[path] % len(values)] for path, values in axes}

    def _of_included(self) -> Iterator[int]:
        """Yield the key of each included point: of the first, or the combination, that is alike."""
        first: dict[str, int] = {}
        for index, point in enumerate(self._included):
            key = self._combination(point)
            if key is None:
                key = first.setdefault(json.dumps(point, sort_keys=True), self._keys + index)
            yield key

    def _combination(self, point: Point) -> int | None:
        if point.keys() != self._own.keys():
            return None
        key = 0
        for path, value in point.items():
            texts = [json.dumps(value, sort_keys=True) for value in self._own[path]]
            if (text := json.dumps(value, sort_keys=True)) not in texts:
                return None
            key += texts.index(text) * self._weights[path]
        return key


class Varied(Generic[T]):
    """What is made of what the points say of some paths: once for all that say the same."""

    def __init__(self, matrix: Matrix, paths: Collection[str], make: Callable[[Point], T]) -> None:
        projection = Projection(matrix, paths)
        self._key = projection.key
        self._made = lru_cache(_KEPT)(lambda key: make(projection.point(key)))
        self._varies = projection.size > 1

    def at(self, number: int) -> T:
        """Return it as it is at a point, by its number."""
        return self._made(self._key(number) if self._varies else 0)


def projected(scenario: Scenario, paths: Collection[str]) -> Iterator[Point]:
    """Yield what the points say of some paths: each combination once, then what is included."""
    axes = {path: values for path, values in scenario.vary.items() if path in paths}
    if combinations(scenario):
        for values in product(*axes.values()):
            point = dict(zip(axes, values, strict=True))
            if _is_left(scenario, point):
                yield point
    for included in scenario.include:
        yield {path: value for path, value in included.items() if path in paths}


def about(scenario: Scenario, table: str, declaration: Declared) -> list[str]:
    """Return the paths of all that varies and is about a part of the table `table`."""
    paths = dict.fromkeys(path for _, path in scenario.varied_paths())
    return [path for path in paths if (varied := axis(path)) and varied.reaches(table, declaration)]


def combinations(scenario: Scenario) -> int:
    """Return how many combinations `vary` makes."""
    return math.prod(map(len, scenario.vary.values()))


def _is_left(scenario: Scenario, point: Point) -> bool:
    rest = [
        {path: value for path, value in exclusion.items() if path not in point}
        for exclusion in _telling(scenario)
        if all(point.get(path, value) == value for path, value in exclusion.items())
    ]
    free = {path: scenario.vary[path] for exclusion in rest for path in exclusion}
    chosen = (dict(zip(free, values, strict=True)).items() for values in product(*free.values()))
    return any(not any(exclusion.items() <= pairs for exclusion in rest) for pairs in chosen)


def _telling(scenario: Scenario) -> list[Mapping[str, JsonValue]]:
    return [exclusion for exclusion in scenario.exclude if exclusion.keys() <= scenario.vary.keys()]
