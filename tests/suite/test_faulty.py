"""Each suite in the tables of `faulty/` has a fault; below it stands all that benchforge says.

They are planned and not run: what is no fault any more would start its processes. A suite whose
first line is `# plan NAME.toml ...` is planned with those words. After a change of words,
`BENCHFORGE_REWRITE=1 pytest tests/suite/test_faulty.py` writes the tables: read the difference.
"""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from front_door import Bench

from benchforge.cli.app import _show_error, group

CASE = re.compile(
    r"^%% (\S+)(?: (\S+))?\n(.*?)^%% says\n(.*?)(?=^%% |\Z)", re.MULTILINE | re.DOTALL
)


class Faulty(NamedTuple):
    """A case of a table."""

    table: Path
    name: str
    encoding: str
    "Of Python's, or `crlf`, or `nul`: each `␀` is a NUL byte."
    text: str
    says: str

    def write(self, folder: Path) -> Path:
        """Write the suite as the bytes that its case is about."""
        text = self.text.replace("\n", "\r\n") if self.encoding == "crlf" else self.text
        text = text.replace("␀", "\0") if self.encoding == "nul" else text
        python = "utf-8" if self.encoding in {"", "crlf", "nul"} else self.encoding
        (folder / self.name).write_bytes(text.encode(python))
        return folder / self.name

    @property
    def words(self) -> list[str]:
        """The words of the command line that the suite is for."""
        first = self.text.partition("\n")[0]
        return shlex.split(first[2:]) if first.startswith("# plan ") else ["plan", self.name]


TABLES = sorted((Path(__file__).parent / "faulty").glob("*.txt"))
CASES = {
    case.name: case
    for table in TABLES
    for case in (Faulty(table, *row) for row in CASE.findall(table.read_text()))
}


@pytest.mark.parametrize("name", CASES)
def test_a_faulty_suite_has_the_message_of_its_table(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchforge", *case.words])
    with pytest.raises(Exception) as caught:  # noqa: PT011 - `_show_error` raises what is not ours
        group(standalone_mode=False)
    code = _show_error(caught.value)
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    if os.environ.get("BENCHFORGE_REWRITE"):
        head = f"%% {name}{case.encoding and f' {case.encoding}'}\n{case.text}%% says\n"
        table = case.table.read_text()
        case.table.write_text(table.replace(head + case.says, head + err))
    else:
        assert err == case.says


def test_the_command_says_the_same(bench: Bench, tmp_path: Path) -> None:
    suite = CASES["several.toml"].write(tmp_path)
    assert bench("run", suite, code=2).err.replace(f"{tmp_path}/", "") == CASES["several.toml"].says
