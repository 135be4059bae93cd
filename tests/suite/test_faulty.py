"""Each suite in the tables of `faulty/` has a fault; below it stands all that benchforge says.

They are planned and not run: what is no fault any more would start its processes. A suite whose
first line is `# plan NAME.toml ...` is planned with those words. A table may begin with a `suite`
that has no fault, which each `diff` below changes. After a change of words,
`BENCHFORGE_REWRITE=1 pytest tests/suite/test_faulty.py` writes the tables: read the difference.
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from front_door import Bench

from benchforge.cli.app import _show_error, group

CASE = re.compile(
    r"^%% (\S+)(?: (\S+))?\n(.*?)(?:^%% says\n(.*?))?(?=^%% (?!says)|\Z)", re.MULTILINE | re.DOTALL
)


class Faulty(NamedTuple):
    """A case of a table."""

    table: Path
    name: str
    encoding: str
    "Of Python's, or `crlf`, or `nul`: each `␀` is a NUL byte."
    text: str
    says: str
    head: str
    "What stands above the message in the table."

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


def changed(text: str, diff: str) -> str:
    """Return a suite with the changes of a diff, whose parts `@@` divides."""
    for part in diff.split("@@\n"):
        lines = part.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] != "+")
        new = "".join(line[1:] for line in lines if line[0] != "-")
        assert not old or f"\n{text}".count(f"\n{old}") == 1, old
        text = f"\n{text}".replace(f"\n{old}", f"\n{new}")[1:] if old else text + new
    return text


def cases(table: Path) -> Iterator[tuple[str, Faulty]]:
    """Yield each case by its name; a diff has the name of its suite and a number."""
    total, number = Faulty(table, "", "", "", "", ""), 0
    for match in CASE.finditer(table.read_text()):
        kind, word, text, says = match.groups(default="")
        head = match[0].removesuffix(says)
        if kind == "suite":
            total, number = Faulty(table, word, "", text, "", head), 0
            yield f"{word} as it is", total
        elif kind == "diff":
            number += 1
            faulty = total._replace(text=changed(total.text, text), says=says, head=head)
            yield f"{total.name} {number}", faulty
        else:
            yield kind, Faulty(table, kind, word, text, says, head)


TABLES = sorted((Path(__file__).parent / "faulty").glob("*.txt"))
CASES = {name: case for table in TABLES for name, case in cases(table)}


@pytest.mark.parametrize("name", CASES)
def test_a_faulty_suite_has_the_message_of_its_table(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchforge", *case.words])
    if name.endswith(" as it is"):
        group(standalone_mode=False)
        return
    with pytest.raises(Exception) as caught:  # noqa: PT011 - `_show_error` raises what is not ours
        group(standalone_mode=False)
    code = _show_error(caught.value)
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    if os.environ.get("BENCHFORGE_REWRITE"):
        table = case.table.read_text()
        case.table.write_text(table.replace(case.head + case.says, case.head + err))
    else:
        assert err == case.says


def test_the_command_says_the_same(bench: Bench, tmp_path: Path) -> None:
    suite = CASES["several.toml"].write(tmp_path)
    assert bench("run", suite, code=2).err.replace(f"{tmp_path}/", "") == CASES["several.toml"].says
