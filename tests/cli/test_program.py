"""A command that is printed works as it stands, whether or not PATH leads to benchforge."""

import os
import sys
from pathlib import Path

import pytest
from front_door import captured

BIN = Path(sys.executable).parent
STARTED = BIN / "benchforge"


@pytest.mark.parametrize("on_path", [True, False])
def test_the_next_command_works_as_it_is_printed(tmp_path: Path, *, on_path: bool) -> None:
    path = os.pathsep.join([*([str(BIN)] if on_path else []), os.defpath])
    environment = os.environ | {"PATH": path}
    words = [str(STARTED), "new", "suite", "bench"]
    done = captured(words, cwd=tmp_path, env=environment, check=True)
    (printed,) = [line for line in done.stdout.splitlines() if line.startswith("next:  ")]
    command = printed.removeprefix("next:  ")
    assert command == f"{'benchforge' if on_path else STARTED} run bench/suite.toml"
    words = ["sh", "-c", command.replace(" run ", " plan ")]
    tried = captured(words, cwd=tmp_path, env=environment)
    assert tried.returncode == 0, tried.stderr
