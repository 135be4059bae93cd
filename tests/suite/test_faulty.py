"""Each suite of `faulty/` has a fault, and beside it stands all that benchforge says of it.

They are planned and not run: what is no fault any more would start its processes. A suite whose
first line is `# plan NAME.toml ...` is planned with those words. After a change of words,
`BENCHFORGE_REWRITE=1 pytest tests/suite/test_faulty.py` writes the files anew: read the difference.
"""

import os
import shlex
import sys
from pathlib import Path

import pytest
from front_door import Bench

from benchforge.cli.app import _show_error, group

FAULTY = Path(__file__).parent / "faulty"
SUITES = sorted(FAULTY.glob("*.toml"))


def words_of(suite: Path) -> list[str]:
    """Return the words of the command line that a suite is for."""
    first = suite.read_bytes().partition(b"\n")[0].decode(errors="replace")
    return shlex.split(first[2:]) if first.startswith("# plan ") else ["plan", suite.name]


@pytest.mark.parametrize("suite", SUITES, ids=[suite.stem for suite in SUITES])
def test_a_faulty_suite_is_told_as_it_stands_there(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FAULTY)
    monkeypatch.setattr(sys, "argv", ["benchforge", *words_of(suite)])
    with pytest.raises(Exception) as caught:  # noqa: PT011 - `_told` raises what is not ours
        group(standalone_mode=False)
    code = _show_error(caught.value)
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    expected = suite.with_suffix(".txt")
    if os.environ.get("BENCHFORGE_REWRITE"):
        expected.write_text(err)
    assert err == expected.read_text()


def test_the_command_says_the_same(bench: Bench) -> None:
    found = bench("run", FAULTY / "several.toml")
    assert found.code == 2
    assert found.err.replace(f"{FAULTY}/", "") == (FAULTY / "several.txt").read_text()
