"""The house as it stands: no arrow up and no circle, in imports and in strings, and the drawing."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
LAYERS: Mapping[str, list[str]] = {
    contract["containers"][0]: contract["layers"]
    for contract in PROJECT["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers"
}
PAGE = ROOT / "docs/architecture.md"
MOST_ENTRIES = 17


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(file): file for file in sorted((ROOT / "benchforge").rglob("*.py"))}


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """Return which module names which: by an import, also a late one, or as a string."""
    pairs = ((name, target) for name, file in FILES.items() for target in targets(file))
    return frozenset((source, target) for source, target in pairs if source != target)


def targets(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in FILES else node.module for name in full]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value.partition(":")[0]]  # as an entry point names an object
        yield from (name for name in names if name in FILES and name != "benchforge")


def boxes(container: str) -> dict[str, set[str]]:
    """Return which child of a container names which."""
    graph: dict[str, set[str]] = defaultdict(set)
    begin = f"{container}."
    for source, target in arrows():
        if source.startswith(begin) and target.startswith(begin):
            pair = [name.removeprefix(begin).partition(".")[0] for name in (source, target)]
            if pair[0] != pair[1]:
                graph[pair[0]].add(pair[1])
    return graph


@pytest.mark.parametrize("container", LAYERS)
def test_nothing_points_up_and_nothing_in_a_circle(container: str) -> None:
    floors: dict[str, int] = {}
    for floor, row in enumerate(reversed(LAYERS[container])):
        floors |= {name.strip(" ()"): floor for name in row.replace("|", ":").split(":")}
    graph = boxes(container)
    assert not graph.keys() - floors.keys() - {"__main__"}
    listed = {source: graph[source] & floors.keys() for source in graph.keys() & floors.keys()}
    assert not [
        (source, target)
        for source, under in listed.items()
        for target in under
        if floors[source] < floors[target]
    ]
    TopologicalSorter(listed).prepare()  # raises CycleError


def test_no_folder_has_more_entries_than_a_reader_sees_at_once() -> None:
    entries: dict[Path, int] = defaultdict(int)
    for path in (ROOT / "benchforge").rglob("*"):
        if path.name != "__pycache__" and path.suffix != ".pyc":
            entries[path.parent] += 1
    assert not {path: count for path, count in entries.items() if count > MOST_ENTRIES}


def test_the_drawing_is_what_the_code_imports() -> None:
    assert drawing() in PAGE.read_text()


def drawing() -> str:
    """Return the rooms from the top down, each with the rooms that it imports."""
    graph = boxes("benchforge")
    rows = [[name.strip() for name in row.split("|")] for row in LAYERS["benchforge"]]
    order = [name for row in rows for name in row]
    lines = (f"{room:9} {' '.join(sorted(graph.get(room, ()), key=order.index))}" for room in order)
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    print(drawing())  # noqa: T201 - for the page
