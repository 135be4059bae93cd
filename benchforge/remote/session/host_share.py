"""A host's share of a suite: files, and the secrets of its own parts, but no others."""

import ast
import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from benchforge.errors import Unusable
from benchforge.parts.part import Part, RunsPython, ServesCode
from benchforge.parts.site import Tree
from benchforge.remote.answers import HostSuite
from benchforge.remote.archive import Archive, packed
from benchforge.suite.cases.parts import parts_on
from benchforge.suite.measuring.host_faults import entries, prefixed, used, within
from benchforge.suite.secrets import pieces, redact, secrets_of_suite
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import as_table

_REQUESTS = ("request", "requests", "kinds", "session")

Checkouts = Mapping[tuple[str | None, str], Tree]
"Commits by directory and ref."


class UserFiles(NamedTuple):
    """The files for one host, and where the suite is among them."""

    files: Archive
    suite: str
    trees: Sequence[tuple[str | None, str, str, str]] = ()
    "Directory and ref of each commit in the suite, and where repository and checkout are."


class HostShare(NamedTuple):
    """What one host is given of a suite."""

    files: Archive
    suite: HostSuite
    imports: frozenset[str]
    "Modules that the user's code imports on benchforge's own Python."


def share_of(suite: Suite, label: str, trees: Checkouts, digests: dict[str, str]) -> HostShare:
    """Return what a host is given, without the addresses of its peers. Raises Unusable."""
    places = list(_places(suite, label))
    sends = any(path[0] == "scenarios" for path in places)
    top: JsonValue = dict(suite.document.tables)
    tables = [reduce(lambda value, key: as_table(value).get(key), path, top) for path in places]
    wanted = {name: os.environ.get(name, "") for table in tables for name in _names(table)}
    # An option that takes any table may have a key `env` of its own: no value of it was taken.
    environment = {k: v for k, v in wanted.items() if suite.secrets.intersection(pieces(v))}
    pieces_of_host = {piece for value in environment.values() for piece in pieces(value)}
    for path, secret in secrets_of_suite(suite.document.tables):
        if any(path[: len(prefix)] == prefix for prefix in places):
            pieces_of_host.add(secret)
    parts = list(parts_on(suite, label))
    roots = [path for part in parts for path in part.reads(suite.path.parent)]
    if sends:
        feeds = as_table(suite.document.tables.get("feeds")).values()
        files = (as_table(feed).get("file") for feed in feeds)
        roots += [suite.path.parent / file for file in files if isinstance(file, str)]
    refs = {(p.directory, p.ref) for p in parts if isinstance(p, ServesCode) and p.ref is not None}
    checkouts = {k: trees[k] for k in sorted(refs, key=str)}
    hidden = suite.secrets - pieces_of_host
    brought = user_files(suite.path, roots, checkouts)
    host_suite = HostSuite(
        files=brought.files.digest,
        path=brought.suite,
        trees=tuple(brought.trees),
        text=redact(suite.text, hidden),
        profile=suite.profile,
        settings=tuple((k, redact(value, hidden)) for k, value in suite.settings.items()),
        only=tuple(suite.only),
        environment=environment,
        digests=digests,
        feeds=sends,
        peers=(),
    )
    return HostShare(brought.files, host_suite, frozenset(_imports(suite, parts, checkouts)))


def _places(suite: Suite, label: str) -> Iterator[tuple[str, ...]]:
    """Yield the places in the suite of what a host's parts are made from.

    Load tools and hosts of servers behind a proxy send requests: they need those of the scenario.
    """
    for name, scenario in suite.scenarios.items():
        for part in used(suite, scenario):
            if label not in part.hosts:
                continue
            yield part.table, part.part.label
            if part.role in {"loader", "upstream"}:
                yield from (("scenarios", name, key) for key in _REQUESTS)
                yield ("feeds",)
    for part_ in parts_on(suite, label):
        if isinstance(part_, RunsPython) and part_.runtime is not None:
            yield "runtimes", part_.runtime


def _imports(suite: Suite, parts: Iterable[Part], checkouts: Checkouts) -> Iterator[str]:
    """Yield what the code of parts imports that run on benchforge's own Python."""
    for part in parts:
        if not isinstance(part, RunsPython) or part.runtime is not None:
            continue
        roots = [*part.reads(suite.path.parent)]
        if isinstance(part, ServesCode) and part.ref is not None:
            roots.append(checkouts[part.directory, part.ref].checkout)
        for root in roots:
            files = (entry for _, entry in entries(root) if isinstance(entry, Path))
            yield from imported(file for file in files if file.suffix == ".py")


def _names(value: JsonValue) -> Iterator[str]:
    """Yield the variables of the environment that a table names."""
    if isinstance(value, dict):
        if list(value) == ["env"] and isinstance(value["env"], str):
            yield value["env"]
        for inner in value.values():
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)


def user_files(suite: Path, roots: Iterable[Path], checkouts: Checkouts) -> UserFiles:
    """Return the files below `roots`, which a suite names relative to its folder.

    They are named from the folder that holds all: the suite's relative paths stay. Raises Unusable.
    """
    files: dict[str, Path | str] = {}
    trees: list[tuple[str | None, str, str, str]] = []
    try:
        folder = Path(os.path.normpath(suite.parent.resolve()))
        named = {Path(os.path.normpath(folder / root)) for root in roots}
        repositories = {tree.repository for tree in checkouts.values()}
        top = Path(os.path.commonpath([folder, *named, *repositories]))
        for root in sorted(named):
            files.update(prefixed(root.relative_to(top), entries(root)))
        for number, (key, tree) in enumerate(checkouts.items()):
            target = Path(f".commit-{number}")
            files.update(prefixed(target, entries(tree.checkout)))
            trees.append((*key, str(tree.repository.relative_to(top)), str(target)))
        within(files)
        archive = packed(files)
    except OSError as error:
        raise Unusable(f"{error.filename}: {error.strerror}", "hosts need this file") from error
    return UserFiles(archive, str(folder.relative_to(top) / suite.name), trees)


def imported(files: Iterable[Path]) -> Iterator[str]:
    """Yield the modules that Python files import by name."""
    for file in files:
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError):
            for node in ast.walk(ast.parse(file.read_bytes())):
                if isinstance(node, ast.Import):
                    yield from (name.name for name in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    yield node.module
