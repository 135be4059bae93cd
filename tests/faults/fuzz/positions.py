"""Fuzz the scanner: `python tests/faults/fuzz/positions.py -runs=20000`, with atheris.

Whatever tomllib reads, the scanner passes with the same paths; what only TOML 1.1 allows, it
refuses; and no text makes anything but these two answers.
"""

import sys
import tomllib
from collections.abc import Iterator

import atheris  # type: ignore[import-untyped]
import tomli

with atheris.instrument_imports(include=["benchforge.suite.toml.positions"]):  # pyright: ignore[reportAttributeAccessIssue]
    from benchforge.suite.toml.positions import Lost, Path, Refused, positions

from benchforge.suite.toml.source import explained

WORDS = ["[", "]", "{", "}", "=", ",", ".", '"', "'", "\n", "\r\n", "#", " ", "\t", "\\", '"""']
WORDS += ["'''", "a", "b", "1", "07:32", "07:32:00", "1979-05-27", "true", "\\e", "\\x41", "é"]
WORDS += ["a = ", "[a]\n", "[[a]]\n", "[[a.b]]\n", "a.b = 1\n", "{ a = 1 }", '"a.b"', "\\u00e9"]


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield each path of what a TOML reader gave."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from paths(inner, (*path, number))


def agrees(text: str) -> None:
    """Raise AssertionError where the scanner and the readers of TOML do not agree."""
    names: set[Path] = set()
    try:
        names = set(positions(text))
        answer = "passed"
    except Lost:
        answer = "lost"
    except Refused:
        answer = "refused"
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        explained(text, str(error))
        if _is_later(text):
            assert answer == "refused", (answer, text)
        return
    if answer != "refused" or max(map(len, paths(tables))) <= 50:
        assert answer == "passed", (answer, text)
        assert names == set(paths(tables)), text


def _is_later(text: str) -> bool:
    try:
        tomli.loads(text)
    except tomli.TOMLDecodeError:
        return False
    return True


def once(data: bytes) -> None:
    """Make a text of the fuzzer's bytes, each of which is a word or a character."""
    agrees("".join(WORDS[byte] if byte < len(WORDS) else chr(byte) for byte in data))


if __name__ == "__main__":
    atheris.Setup(sys.argv, once)
    atheris.Fuzz()
