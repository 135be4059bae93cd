"""Outputs of the real tools: each has one reader, which takes the numbers that the tool printed.

`recorded/facts.json` has them. To add those of a new recording, set BENCHFORGE_REWRITE=1, and
compare them with the recording.
"""

import json
import os
from pathlib import Path

import pytest
from load.audits import all_readers, audit, false, source

from benchforge.cli.plugins.examination.hostile import damages

RECORDED = Path(__file__).parent / "recorded"
FILES = sorted(RECORDED.glob("*/*.*"))
FACTS = RECORDED / "facts.json"
READERS = {reader.name: reader for reader in all_readers()}
OF_FOLDER = {"vegeta/hdrplot.txt": "wrk2", "timers/pyperf.json": "pyperf"}
OF_FOLDER["timers/pytest_benchmark.json"] = "pytest_benchmark"
NOTHING = {"locust/empty_stats.csv"}
"No request ended in that second."


def named(file: Path) -> str:
    return str(file.relative_to(RECORDED))


def number(value: float | str) -> float | str:
    """Return a number with nine digits: versions of Python differ in later ones of statistics."""
    return value if isinstance(value, str) else float(f"{value:.9g}")


def test_there_are_recordings_of_each_tool() -> None:
    assert {file.parent.name for file in FILES} == {
        *("autocannon", "bombardier", "jmeter", "k6", "locust", "timers", "vegeta")
    }


@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_real_output_is_read_and_nothing_is_false(file: Path) -> None:
    name = named(file)
    claims = [item.name for item in all_readers() if item.claims(source(file.read_bytes()).head)]
    assert claims == [OF_FOLDER.get(name, file.parent.name)]
    audited = audit(file.read_text(), name=name)
    assert not false(audited), false(audited)
    assert bool(audited.checked) == (name not in NOTHING)
    facts = {
        row.name: {fact: number(value.value) for fact, value in row.facts.items()}
        | {"times": [number(time) for time in row.times]}
        for row in audited.rows
    }
    stored = json.loads(FACTS.read_text())
    if os.environ.get("BENCHFORGE_REWRITE"):
        FACTS.write_text(json.dumps(stored | {name: facts}, indent=1, sort_keys=True) + "\n")
    else:
        assert facts == stored[name]


@pytest.mark.samples(3)
@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_damaged_output_is_an_error_with_its_place(file: Path) -> None:
    reader = READERS[OF_FOLDER.get(named(file), file.parent.name)]
    for _, damaged in damages(file.read_bytes()[:8_000]):
        try:
            list(reader.rows(source(damaged)))
        except ValueError as error:
            assert "\n" not in str(error)[:200]  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><testResults>&a;</testResults>', "line 1: a document type"),
        ("<testResults>\n" + "<a>\n" * 5000, "line 101: more than 100 elements"),
        ('<testResults>\n<httpSample t="1" ts="x"/></testResults>', "line 2: timeStamp: 'x'"),
        ("<testResults>\n<httpSample", "line 2: unclosed token"),
        ('<testResults><httpSample t="1" t="2"/>', "line 1: duplicate attribute"),
    ],
)
def test_hostile_xml_is_an_error_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        list(READERS["jmeter"].rows(source(text)))
