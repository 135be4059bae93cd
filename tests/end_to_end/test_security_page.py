"""What the security page says that nobody can do is shown by tests, and those tests stand there."""

import ast
import re
from pathlib import Path

TESTS = {path.name: path for path in Path(__file__).parents[1].rglob("test_*.py")}
PAGE = Path(__file__).parents[2] / "docs/explanation/security.md"
_NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def rows() -> list[list[str]]:
    lines = PAGE.read_text().partition("## What each cannot do")[2].splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def functions(file: Path) -> set[str]:
    body = ast.parse(file.read_text()).body
    return {item.name for item in body if isinstance(item, ast.FunctionDef)}


def test_each_line_names_tests_that_there_are() -> None:
    assert len(rows()) > 20
    for who, cannot, output in rows():
        named = _NAMED.findall(output)
        assert named, f"{who} cannot {cannot}: no test"
        assert [name for file, name in named if name not in functions(TESTS[file])] == [], cannot


def test_each_user_of_what_holds_for_whom_has_tests_that_there_are() -> None:
    (findall,) = re.findall(r"^\| shown by \|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    cells = findall.split("|")
    assert len(cells) == 3
    for cell in cells:
        named = _NAMED.findall(cell)
        assert named or cell.strip() == "the same, run as root"
        assert all(name in functions(TESTS[file]) for file, name in named), cell


def test_each_test_of_a_hostile_server_stands_on_the_page() -> None:
    named = {name for _, _, output in rows() for _, name in _NAMED.findall(output)}
    hostile = [file for name, file in TESTS.items() if name.startswith("test_hostile_")]
    assert len(hostile) > 1
    for file in hostile:
        mine = {name for name in functions(file) if name.startswith("test_")}
        assert mine - named == set(), file.name


def test_who_can_do_something_is_told_what_and_what_not() -> None:
    text = PAGE.read_text()
    for who in ("server", "suite", "plugin", "result", "host"):
        assert re.search(rf"^\*\*A {who}\*\*", text, re.MULTILINE), who
        assert any(row[0] == f"a {who}" for row in rows()), who
