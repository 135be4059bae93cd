"""A command that reads a result opens each of its files once."""

import json
import sys
from collections import Counter
from pathlib import Path

from front_door import captured
from made import plain

from benchforge.model.files.folder import HEADER, TRIAL, TRIALS

COMMANDS = ("report", "validate")
OPENS = f"""
import json, sys
opened = [[]]
sys.addaudithook(lambda event, words: event == "open" and opened[-1].append(str(words[0])))
from benchforge.cli.app import called
for command in {COMMANDS}:
    opened.append([])
    called([command, sys.argv[1]])
print(json.dumps(opened), file=sys.stderr)
"""
CASE = plain.named("flask")
BLOCKS = 3


def test_each_trial_is_opened_once(tmp_path: Path) -> None:
    (tmp_path / HEADER).write_text(plain.header(CASE, blocks=BLOCKS).model_dump_json())
    for number in range(1, BLOCKS + 1):
        file = tmp_path / TRIALS / f"{number:04}" / TRIAL
        file.parent.mkdir(parents=True)
        file.write_text(plain.trial(number=number, block=number, case=CASE).model_dump_json())
    done = captured([sys.executable, "-c", OPENS, str(tmp_path)])
    opened = json.loads(done.stderr.splitlines()[-1])
    for command, files in zip(COMMANDS, opened[1:], strict=True):
        names = Counter(Path(file).name for file in files)
        assert names[TRIAL] == BLOCKS, (command, done.stderr)
        assert names[HEADER] == 1, command
