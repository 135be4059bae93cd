"""README.md: its length and its figures; the security page: each of its lines names its tests."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
MOST_WORDS = 900


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= MOST_WORDS


def gate_rows() -> list[list[str]]:
    """Return the rows of real gates: commit, gates, slower, not slower, undecided, and more."""
    page = (ROOT / "docs/false-verdicts.md").read_text()
    table = page.partition("### Real gates")[2].partition("\n| commit ")[2].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:]] for line in table.splitlines()[2:]]


@pytest.mark.parametrize(
    ("commit", "sentence"),
    [
        ("equal", r"Of (\d+) gates of two equal commits, (\d+) said \*slower\*"),
        (
            "5 % slower",
            r"Of (\d+) gates of a commit that is 5 % slower, (\d+) said \*slower\*, (\d+)",
        ),
    ],
)
def test_the_gates_of_the_readme_are_those_of_the_page(commit: str, sentence: str) -> None:
    counted = [row for row in gate_rows() if row[0].startswith(commit)]
    gates, slower, passed, undecided = (sum(int(row[i]) for row in counted) for i in range(1, 5))
    match = re.search(sentence, " ".join(README.split()))
    assert match is not None
    assert [int(number) for number in match.groups()] == [gates, slower, undecided][
        : match.re.groups
    ]
    assert commit == "equal" or passed == 0


PAGE = ROOT / "docs/explanation/security.md"
_NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def rows() -> list[list[str]]:
    lines = PAGE.read_text().partition("## What each cannot do")[2].splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def functions(name: str) -> set[str]:
    """Return the names of the functions of all test files of this name."""
    trees = [ast.parse(file.read_text()) for file in (ROOT / "tests").rglob(name)]
    items = [item for tree in trees for item in tree.body if isinstance(item, ast.FunctionDef)]
    return {item.name for item in items}


def test_each_line_names_tests_that_there_are() -> None:
    assert len(rows()) > 20
    for who, cannot, output in rows():
        named = _NAMED.findall(output)
        assert named, f"{who} cannot {cannot}: no test"
        assert [name for file, name in named if name not in functions(file)] == [], cannot


def test_each_user_of_what_holds_for_whom_has_tests_that_there_are() -> None:
    (findall,) = re.findall(r"^\| shown by \|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    cells = findall.split("|")
    assert len(cells) == 3
    for cell in cells:
        named = _NAMED.findall(cell)
        assert named or cell.strip() == "the same, run as root"
        assert all(name in functions(file) for file, name in named), cell


def test_each_test_of_a_hostile_server_stands_on_the_page() -> None:
    named = {name for _, _, output in rows() for _, name in _NAMED.findall(output)}
    hostile = [file.name for file in (ROOT / "tests").rglob("test_hostile_*.py")]
    assert len(hostile) > 1
    for file in hostile:
        mine = {name for name in functions(file) if name.startswith("test_")}
        assert mine - named == set(), file


def test_who_can_do_something_is_told_what_and_what_not() -> None:
    text = PAGE.read_text()
    for who in ("server", "suite", "plugin", "result", "host"):
        assert re.search(rf"^\*\*A {who}\*\*", text, re.MULTILINE), who
        assert any(row[0] == f"a {who}" for row in rows()), who
