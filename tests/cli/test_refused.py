"""Each command in `refused.txt` is refused with the whole text below it, and leaves nothing behind.

After a change of words, `BENCHFORGE_REWRITE=1 pytest tests/cli/test_refused.py` writes the file:
read the difference.
"""

import os
import re
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest
from front_door import Bench

FILE = Path(__file__).with_name("refused.txt")
CASES = re.findall(
    r"^\$ benchforge ([^\n]*)\n(.*?)(?=^\$ |\Z)", FILE.read_text(), re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(("words", "says"), CASES, ids=[words for words, _ in CASES])
def test_a_command_that_cannot_be_is_refused(
    bench: Bench, tmp_path: Path, words: str, says: str
) -> None:
    printed = bench(*shlex.split(words), code=2).err.replace(f"{tmp_path}/", "")
    printed = printed.replace(f" {version('benchforge-http')})", " VERSION)")
    if os.environ.get("BENCHFORGE_REWRITE"):
        head = f"$ benchforge {words}\n"
        FILE.write_text(FILE.read_text().replace(head + says, head + printed))
    else:
        assert printed == says
    assert list(tmp_path.iterdir()) == []
