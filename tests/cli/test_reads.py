"""A command that reads a result opens each of its files once."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from made import plain

from benchforge.model.files.folder import HEADER, TRIAL, TRIALS

OPENS = """
import sys
opened = []
sys.addaudithook(lambda event, words: event == "open" and opened.append(str(words[0])))
from benchforge.cli import called
called(sys.argv[1:])
print(*opened, sep="\\n", file=sys.stderr)
"""
CASE = plain.named("flask")
BLOCKS = 3


@pytest.mark.parametrize("command", ["report", "validate"])
def test_each_trial_is_opened_once(tmp_path: Path, command: str) -> None:
    header = plain.header(CASE, blocks=BLOCKS)
    (tmp_path / HEADER).write_text(header.model_dump_json())
    for number in range(1, BLOCKS + 1):
        file = tmp_path / TRIALS / f"{number:04}" / TRIAL
        file.parent.mkdir(parents=True)
        trial = plain.trial(number=number, block=number, case=CASE)
        file.write_text(trial.model_dump_json())
    done = subprocess.run(
        [sys.executable, "-c", OPENS, command, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    opened = Counter(Path(line).name for line in done.stderr.splitlines())
    assert opened[TRIAL] == BLOCKS, done.stderr
    assert opened[HEADER] == 1
