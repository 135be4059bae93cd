"""What may go to a terminal: each print passes `printable`, or is a text of our own."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("benchforge", "plugins/reporters")
"Other plugins' files that print are programs of a trial."
_PRINTS = {"echo", "secho", "confirm", "prompt", "print"}
_STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "self._stream"}
ELSEWHERE = {
    "benchforge/cli/app.py _show_used_up": "memory ran out: nothing can be imported",
    "benchforge/testing/__init__.py write": "it was printed, and is shown a second time",
    "benchforge/run/programs/interpreter_probe.py <module>": "another process reads it",
}
"Prints without `printable`, by file and function, and why each is harmless."


def prints(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield what is printed, with the name of the function around it."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not _prints(call.func):
            continue
        around = [node.name for node in functions if call in ast.walk(node)]
        yield [*around, "<module>"][0], call.args[0]


def _prints(called: ast.expr) -> bool:
    stream, _, method = ast.unparse(called).rpartition(".")
    if method in {"write", "writelines"}:
        return stream in _STREAMS
    return method in _PRINTS and stream in {"", "click"}


def harmless(value: ast.expr) -> bool:
    """Whether a text is a constant, or what `printable` returns."""
    match value:
        case ast.Call(func=ast.Name(id="printable")) | ast.Constant():
            return True
        case ast.Name(id=name):
            return name.isupper()
        case ast.IfExp(body=body, orelse=otherwise):
            return harmless(body) and harmless(otherwise)
    return False


def test_what_is_printed_is_safe() -> None:
    places = set()
    for path in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if "/templates/" in name:
            continue
        for function, value in prints(ast.parse(path.read_text())):
            text = f"{name} {function}"
            places.add(text)
            assert harmless(value) or text in ELSEWHERE, f"{text}: {ast.unparse(value)}"
    assert ELSEWHERE.keys() <= places
    assert "benchforge/cli/console/say.py show" in places


def test_a_raw_print_is_found() -> None:
    for text in ("click.echo(f'{a}')", "print(a)", "sys.stderr.write(a + 'b')", "click.confirm(a)"):
        assert not any(harmless(value) for _, value in prints(ast.parse(text)))
