"""Without a terminal that shows colours, no output has an escape sequence."""

import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, bench_words
from measured.small_results import believed, shared

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return believed(shared(tmp_path_factory), tmp_path_factory.mktemp("plain") / "believed")


def on_a_terminal(*words: str, **environment: str) -> str:
    """Return what benchforge prints on a terminal of its own."""
    terminal, theirs = pty.openpty()
    rest = {name: text for name, text in os.environ.items() if name not in {"NO_COLOR", "TERM"}}
    options: dict[str, Any] = {"stdin": theirs, "stdout": theirs, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(bench_words(*words), env=rest | environment, **options)
    os.close(theirs)
    pieces = []
    try:
        while piece := os.read(terminal, 65_536):  # while it runs: a terminal holds a few kilobytes
            pieces.append(piece)
    except OSError:  # EIO: the other end is closed
        assert process.wait() == 0
    finally:
        os.close(terminal)
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
