"""The words of the code: no name that says nothing, and no public class name for two things."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EMPTY = {"one", "told", "said", "found", "asked", "known", "here", "every"}
"Names that say nothing of what they hold. docs/contributing.md has the rule."
FUNCTION_WORDS = EMPTY | {
    *("of", "at", "there", "own", "ours", "given", "left", "what", "why", "seen", "shown", "kept"),
    *("keep", "place", "now", "before", "after", "whole", "some", "lacking", "above", "beside"),
    *("both", "enough", "story", "ground", "stay", "kin", "wish"),
}
"Words that name no thing and no quantity. A few stand in files, in suites and in the plugin API."
OF_OTHERS = {"apps", "drivers", "runners"}
"Plain files that run without benchforge: each app has the names of the study that it is from."


def sources() -> list[Path]:
    files = [file for root in ("benchforge", "plugins") for file in (ROOT / root).rglob("*.py")]
    return sorted(file for file in files if not OF_OTHERS & set(file.parts))


NAMED: dict[type[ast.AST], str] = {
    **dict.fromkeys((ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef), "name"),
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), "name"),
    ast.arg: "arg",
    ast.Attribute: "attr",
    ast.Name: "id",
    ast.alias: "asname",
    ast.MatchMapping: "rest",
}
"Fields that hold the name which a node binds."


def bound(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of all that a module binds, but for comprehensions' own names."""
    loops = (node for node in nodes if isinstance(node, ast.comprehension))
    short_lived = {name for node in loops for name in ast.walk(node.target)}
    for node in nodes:
        name = getattr(node, NAMED.get(type(node), ""), None)
        stores = isinstance(getattr(node, "ctx", ast.Store()), ast.Store)
        if name and stores and node not in short_lived:
            yield getattr(node, "lineno", 0), name


def nodes(text: str) -> list[ast.AST]:
    return [*ast.walk(ast.parse(text))]


def empty(nodes: Sequence[ast.AST]) -> list[tuple[int, str]]:
    return [(line, name) for line, name in bound(nodes) if name.strip("_").lower() in EMPTY]


def public_classes(nodes: Sequence[ast.AST]) -> list[str]:
    names = (node.name for node in nodes if isinstance(node, ast.ClassDef))
    return [name for name in names if not name.startswith("_")]


@cache
def read() -> dict[Path, tuple[list[tuple[int, str]], list[str]]]:
    """Return the empty names and the public classes of each source."""
    parsed = ((file, nodes(file.read_text(encoding="utf-8"))) for file in sources())
    return {file: (empty(subject), public_classes(subject)) for file, subject in parsed}


def test_names_say_what_they_hold() -> None:
    places = {
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file, (names, _) in read().items()
        for line, name in names
    }
    places |= {
        f"{file.relative_to(ROOT)}: the file's own name"
        for file in read()
        if file.stem in EMPTY or file.parent.name in EMPTY
    }
    hint = "name each for what it holds, with a word of docs/glossary.md"
    assert not places, "\n".join([hint, *sorted(places)])


def names_of(tree: ast.AST) -> Iterator[str]:
    """Yield the name of each variable, parameter and function, those of comprehensions too."""
    kinds = ast.arg | ast.Name | ast.FunctionDef | ast.AsyncFunctionDef
    return (name for _, name in bound([node for node in ast.walk(tree) if isinstance(node, kinds)]))


@pytest.mark.parametrize(("tops", "most"), [(("benchforge", "plugins"), 5), (("tests",), 10)])
def test_few_names_are_function_words(tops: tuple[str, ...], most: int) -> None:
    """At most so many of 1,000 lines."""
    texts = [file.read_text() for top in tops for file in sorted((ROOT / top).rglob("*.py"))]
    names = (name for text in texts for name in names_of(ast.parse(text)))
    words = [name for name in names if name.strip("_") in FUNCTION_WORDS]
    share = 1000 * len(words) / sum(text.count("\n") for text in texts)
    assert share <= most, f"{share:.1f} of 1,000 lines: {Counter(words).most_common(9)}"


def test_a_function_takes_at_most_six_parameters() -> None:
    """Ruff's PLR0913 leaves out `self`."""
    functions = [
        (f"{file.relative_to(ROOT)}:{node.lineno}: {node.name}", node.args)
        for file in sources()
        for node in nodes(file.read_text(encoding="utf-8"))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    counts = {
        name: len(taken.posonlyargs + taken.args + taken.kwonlyargs) for name, taken in functions
    }
    assert len(counts) > 1000
    assert not {name: count for name, count in counts.items() if count > 6}


def test_a_public_class_name_stands_for_one_thing() -> None:
    where: dict[str, list[str]] = {}
    for file, (_, classes) in read().items():
        for name in classes:
            where.setdefault(name, []).append(str(file.relative_to(ROOT)))
    twice = {name: files for name, files in where.items() if len(files) > 1}
    assert not twice, f"give all but one of each another name: {twice}"


@pytest.mark.parametrize(
    "text",
    [
        *("one = 1", "_one: int = 1", "ONE = 1", "(one := 1)", "a, (b, one) = x", "self.known = 1"),
        *("def told(): ...", "async def said(): ...", "class Known: ...", "f = lambda here: 1"),
        *("def f(asked): ...", "def f(*, every): ...", "def f(*found): ..."),
        *("for one in x: ...", "with x as told: ...", "try: ...\nexcept E as told: ..."),
        *("import x as here", "from x import y as said"),
        *("match x:\n case [*found]: ...", "match x:\n case {**known}: ..."),
        *("match x:\n case A() as asked: ...", "class A:\n    every: int\n    'Of all.'"),
    ],
)
def test_an_empty_name_is_seen_wherever_it_is_bound(text: str) -> None:
    assert len(empty(nodes(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("[one for one in x]", "{known: found for known, found in x}"),
        *("x.one", "f(told=1)", "one_more = 1", "asked_s: float"),
    ],
)
def test_comprehensions_and_the_names_of_others_are_left_alone(text: str) -> None:
    assert empty(nodes(text)) == []
