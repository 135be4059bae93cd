"""Without a terminal that shows colours, no output has an escape sequence."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from front_door import Bench
from measured.small_results import believed, shared

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return believed(shared(tmp_path_factory), tmp_path_factory.mktemp("plain") / "believed")


def on_a_terminal(*words: str, **environment: str) -> str:
    """Return what benchforge prints on a terminal of its own."""
    terminal, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchforge", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            env={**_without_colours(), **environment},
        )
    finally:
        os.close(theirs)
    try:
        text = _all_of(terminal)  # while it runs: a terminal holds a few kilobytes
    finally:
        os.close(terminal)
    assert process.wait() == 0
    return text


def _without_colours() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM"}}


def _all_of(terminal: int) -> str:
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # EIO: the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces).decode()


PLAIN = {"TERM": "xterm", "NO_COLOR": "1"}


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({"TERM": "xterm"}, True), (PLAIN, False), ({"TERM": "dumb"}, False)],
)
@pytest.mark.parametrize("reason", [(), ("--why",)])
def test_a_terminal_that_shows_no_colours_gets_none(
    result: Path, environment: dict[str, str], coloured: bool, reason: tuple[str, ...]
) -> None:
    text = on_a_terminal("report", str(result), "-o", "-", *reason, **environment)
    assert "small" in text or reason
    assert (ESCAPE in text) is coloured


def test_a_pipe_gets_no_colours(bench: Bench, result: Path) -> None:
    for words in (("report", result), ("report", result, "--why"), ("report", result, "-o", "-")):
        assert ESCAPE not in bench(*words, code=0).all
