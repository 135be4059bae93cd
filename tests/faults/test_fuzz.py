"""Nothing that stands in a file makes anything but a suite or a SuiteErrors."""

import random
import re
import sys
from pathlib import Path

import pytest
from front_door import bench_words, calls, captured, forked, needed_module
from measured.small_results import measured

from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.toml.faults import SuiteErrors

HERE = Path(__file__).parent
SUITES = sorted(HERE.parents[1].glob("suites/**/*.toml"))
BITS = [*"[]{}=,.\"'#\n \\*", '"""', "'''", "[[", "]]", "\\e", "07:32", "{\n", "9" * 30]
BITS += ["\x00", "é"]
BITS += ["true", "-1", "inf", '"{backends.x.y}"', "servers", '"*"', "{ env = 'HOME' }", "use"]


def test_the_scanner_agrees_with_the_readers_of_toml() -> None:
    needed_module("atheris")
    done = captured(
        [sys.executable, HERE / "fuzz" / "positions.py", "-runs=10000", "-max_len=80", "-seed=7"],
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Done 10000 runs" in done.stderr


def test_whatever_a_result_says_is_shown_as_text_and_written_nowhere_else(tmp_path: Path) -> None:
    """A few runs; for hours: `tests/faults/fuzz/results.py RESULT --seconds 3600`."""
    result = measured(calls(bench_words(), tmp_path), tmp_path, "--set", "repeat.blocks=1")
    words = (result, "--runs=6", "--seed=7")
    done = forked(HERE / "fuzz/results.py", *words, folder=tmp_path)
    assert done.code == 0, done.out[-4000:] + done.err[-2000:]
    assert "0 of 6 runs failed" in done.out
    counts = {subject: int(count) for count, subject in re.findall(r"(?m)^ *(\d+) (.+)$", done.out)}
    assert counts["summed"] >= 2, done.out  # else the changes do not load


@pytest.mark.parametrize("suite", SUITES, ids=[suite.stem for suite in SUITES])
def test_a_mutated_suite_ends_in_a_suite_or_an_error(suite: Path, tmp_path: Path) -> None:
    registry = Registry()
    dice = random.Random(suite.name)
    actual = 0
    for _ in range(30):
        text = suite.read_text()
        for _ in range(dice.randint(1, 3)):
            index = dice.randrange(len(text))
            text = text[:index] + dice.choice(BITS) + text[index + dice.randint(0, 6) :]
        mutated = tmp_path / "mutated.toml"
        mutated.write_text(text)
        try:
            load(mutated, registry)
        except SuiteErrors:
            actual += 1
    assert actual > 0
