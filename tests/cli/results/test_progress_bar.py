"""A bar is drawn for thousands of trials: on a terminal, and nothing of it in pipes."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from made import plain


def on_a_terminal(words: list[str], out: Path) -> str:
    """Return what a command prints on stderr, if that is a terminal; its output is a file."""
    terminal, theirs = pty.openpty()
    with out.open("wb") as file:
        environment = {**os.environ, "TERM": "xterm"}
        process = subprocess.Popen(words, stdout=file, stderr=theirs, env=environment)
    os.close(theirs)
    pieces: list[bytes] = []
    try:
        while piece := os.read(terminal, 65_536):
            pieces.append(piece)
    except OSError:  # the other end is closed
        process.wait()
    finally:
        os.close(terminal)
    return b"".join(pieces).decode()


def test_progress_is_a_bar_on_a_terminal_and_nothing_in_a_pipe(tmp_path: Path) -> None:
    for number in range(1, 601):
        path = tmp_path / f"many/trials/{number:04}"
        path.mkdir(parents=True)
        text = plain.trial(number=number).model_dump_json(indent=1, by_alias=True)
        (path / "trial.json").write_text(text)
    words = [sys.executable, "-m", "benchforge", "validate", str(tmp_path / "many")]
    text_shown = on_a_terminal(words, tmp_path / "out")
    assert "trials" in text_shown
    assert "100%" in text_shown
    piped = subprocess.run(words, capture_output=True, check=False)
    assert piped.stdout == (tmp_path / "out").read_bytes() != b""
    assert b"100%" not in piped.stderr
