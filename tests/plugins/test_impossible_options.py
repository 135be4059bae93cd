"""Each table of options in `impossible_options.txt` is refused; below it stands the whole message.

After a change of words, `BENCHFORGE_REWRITE=1 pytest tests/plugins/test_impossible_options.py`
writes the file: read the difference.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import cast

import pytest
from pydantic import ValidationError

from benchforge.parts.kinds import Kind
from benchforge.parts.registry import Registry

FILE = Path(__file__).with_name("impossible_options.txt")
CASES = re.findall(
    r"^%% (\w+) (\S+)\n(.*?)^%% says\n(.*?)(?=^%% |\Z)", FILE.read_text(), re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(("kind", "name", "options", "says"), CASES)
def test_options_that_cannot_be_are_refused(kind: str, name: str, options: str, says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Registry().part(cast("Kind", kind), name).model_validate(tomllib.loads(options))
    message = "".join(
        "".join(f"{step}: " for step in [".".join(map(str, error["loc"]))] if step)
        + error["msg"].removeprefix("Value error, ")
        + "\n"
        for error in caught.value.errors()
    )
    if os.environ.get("BENCHFORGE_REWRITE"):
        head = f"%% {kind} {name}\n{options}%% says\n"
        FILE.write_text(FILE.read_text().replace(head + says, head + message))
    else:
        assert message == says
