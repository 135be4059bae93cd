"""A file of ours is read by the short way, and says the same as by the long one."""

import json
from pathlib import Path

import pytest
from made import plain, quiet_trial

from benchforge.model.files import folder as folder_module
from benchforge.model.files.file import Parsed, parse
from benchforge.model.files.folder import parse_trials
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.model.values.forked import forked


def parsed(folder: Path, content: bytes) -> Parsed[Trial]:
    (folder / "trial.json").write_bytes(content)
    read = parse(folder, "trial.json", Trial)
    assert isinstance(read, Parsed), read
    return read


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_both_ways_give_one_model_one_text_and_the_same_lines(tmp_path: Path, end: bytes) -> None:
    trial = quiet_trial.trial().model_dump_json(indent=1, by_alias=True).encode() + end
    theirs = json.dumps(json.loads(trial), indent=2).encode()
    short, long = parsed(tmp_path, trial), parsed(tmp_path, theirs)
    assert short.model == long.model == quiet_trial.trial()
    assert (short.text(), long.text()) == (trial, theirs)
    path = ("reading", "seconds")
    assert short.places.line(path) == long.places.line(path) > 1


@pytest.mark.parametrize(
    ("then", "newer", "message"),
    [
        (' "block": 1,', ' "block": 1,\n "block": 1,', "occurs twice in its object"),
        (' "block": 1,', ' "block": "1",', 'input should be a valid integer, got "1"'),
        (' "block": 1,\n', "", "is missing"),
    ],
)
def test_wrong_json_is_parsed_twice(tmp_path: Path, then: str, newer: str, message: str) -> None:
    text = plain.trial().model_dump_json(indent=1, by_alias=True)
    assert then in text
    (tmp_path / "trial.json").write_text(text.replace(then, newer, 1))
    faults = parse(tmp_path, "trial.json", Trial)
    assert isinstance(faults, list)
    (fault,) = faults
    assert (fault.where, fault.message.replace("'", '"')) == ("block", message)


def test_equal_checks_of_different_trials_are_one_object(tmp_path: Path) -> None:
    def check(value: float) -> Check:
        return Check(
            id="L1", scope="trial", subject="apparatus", status="pass", value=value, message="m"
        )

    for number, values in enumerate([(0.0, 1.0), (-0.0, 1.0)], 1):
        trial = plain.trial(number=number, checks=tuple(map(check, values)))
        folder = tmp_path / f"trials/{number:04}"
        folder.mkdir(parents=True)
        (folder / "trial.json").write_text(trial.model_dump_json(indent=1, by_alias=True))
    first, second = (read.model for read in parse_trials(tmp_path) if isinstance(read, Parsed))
    assert first.checks[1] is second.checks[1]
    assert first.checks[0] is not second.checks[0]
    assert [repr(trial.checks[0].value) for trial in (first, second)] == ["0.0", "-0.0"]


def test_a_second_process_changes_no_trial_and_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "_BATCH", 3)
    for number in range(1, 24):
        text = plain.trial(number=number).model_dump_json(indent=1, by_alias=True)
        if number % 4 == 0:
            text = json.dumps(json.loads(text))  # as another program writes it
        if number % 7 == 0:
            text = text.replace('"block"', '"blocks"')
        folder = tmp_path / f"trials/{number:04}"
        folder.mkdir(parents=True)
        (folder / "trial.json").write_text(text)

    def read() -> list[object]:
        files = parse_trials(tmp_path)
        return [(file.model, file.text()) if isinstance(file, Parsed) else file for file in files]

    alone = read()
    assert [type(each) for each in alone].count(list) == 3
    monkeypatch.setattr(folder_module, "_MANY", 1)
    assert read() == alone


def test_a_process_that_ends_early_gives_what_it_had(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(forked(lambda: (1 // number for number in (1, 1, 0)))) == [1, 1]
    assert list(forked(lambda: [b"x" * 10**6])) == [b"x" * 10**6]
    first = next(each for each in forked(lambda: iter(range(10**6))))  # the rest is not read
    assert first == 0
    assert capfd.readouterr() == ("", "")
