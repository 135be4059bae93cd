"""`benchforge new suite`: what it writes runs, and nothing is overwritten."""

from pathlib import Path

import pytest
from front_door import Bench, needed_module

from benchforge.model.files.folder import read_trials
from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.toml.built_in import brought

ROOT = Path(__file__).parents[3]
SETTINGS = ("repeat.blocks=1", "loaders.closed.duration=1s", "repeat.warmup=0s")
SHORT = [word for item in SETTINGS for word in ("--set", item)]
SCHEMA_LINE = "#:schema suite.schema.json\n"
BROUGHT = sorted(file.stem for file in (ROOT / "suites").rglob("*.toml"))


def switched_on(text: str) -> str:
    """Take the # away from each line that has no space behind it; the schema's line stays."""
    lines = text.splitlines(keepends=True)
    off = [line.startswith("#") and line[1] not in " :\n" for line in lines]
    assert sum(off) > 5
    return "".join(line[item:] for line, item in zip(lines, off, strict=True))


def test_a_new_suite_runs_as_it_is(bench: Bench) -> None:
    assert "benchforge run suite.toml" in bench("new", "suite", code=0).out
    result = bench("run", "suite.toml", *SHORT, code=0).result
    trials = {trial.case.server: trial for trial in read_trials(result)}
    assert set(trials) == {"one", "threads"}
    item, threads = trials["one"].reading, trials["threads"].reading
    assert item is not None
    assert threads is not None
    for trial in trials.values():  # it teaches by a server that is as real ones are
        answers = {check.id: check.status for check in trial.checks if check.id in {"D1", "K1"}}
        assert answers == {"D1": "pass", "K1": "pass"}
    # Each answer takes 5 ms: one at a time cannot give more than 200 a second.
    assert 0 < item.responses / item.seconds <= 200
    assert threads.responses > 0
    bench("validate", result, code=0)


def test_new_suites_have_what_is_switched_off_ready_to_switch_on(
    bench: Bench, tmp_path: Path
) -> None:
    needed_module("gunicorn")
    bench("new", "suite")
    file = tmp_path / "suite.toml"
    text = switched_on(file.read_text()).replace('["one", "threads"]', '["mine"]')
    file.write_text(text)
    suite = load(file, Registry())
    assert {*suite.servers} == {"one", "threads", "mine", "running"}
    assert {*suite.backends} == {"db"}
    file.write_text(text.replace('backends = ["db"]', ""))
    # The app answers at once: a short load of it is enough, whose numbers mean nothing.
    short = ["--set", "loaders.closed.duration=200ms", "--set", "smoke=true"]
    result = bench("run", "suite.toml", *SHORT, *short, code=0).result
    trial, placebo = sorted(read_trials(result), key=lambda item: item.case.arm)
    assert (trial.case.server, trial.failure) == ("mine", None)
    assert (placebo.case.placebo, placebo.failure) == (True, None)


@pytest.mark.samples(2)
@pytest.mark.parametrize("name", BROUGHT)
def test_each_suite_that_we_bring_is_copied(bench: Bench, tmp_path: Path, name: str) -> None:
    bench("new", "suite", "copies", "--from", name, code=0)
    assert (tmp_path / "copies/suite.toml").read_text().startswith(SCHEMA_LINE)
    copy = load(tmp_path / "copies/suite.toml", Registry())
    assert copy.scenarios.keys() == load(brought()[name], Registry()).scenarios.keys()


def test_the_schema_is_that_of_what_is_installed(bench: Bench, tmp_path: Path) -> None:
    schema = tmp_path / "suite.schema.json"
    schema.write_text("of another version")
    bench("new", "suite", code=0)
    assert (tmp_path / "suite.toml").read_text().startswith(SCHEMA_LINE)
    assert schema.read_text() == bench("schema").out
    bench("new", "suite", "second.toml", code=0)  # shares the app of the first


@pytest.mark.parametrize("entries", ["suite.toml", "sample_app.py"])
def test_new_overwrites_nothing(bench: Bench, tmp_path: Path, entries: str) -> None:
    (tmp_path / entries).write_text("mine")
    assert f"error: {entries}: exists already" in bench("new", "suite", code=2).err
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(entries, "mine")]


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        ("file", 2, "error: file: is not a folder\nhint: a suite's name ends in .toml"),
        ("file/below", 5, "error: file/below: cannot be written: Not a directory"),
        ("/proc/nowhere", 5, "error: /proc/nowhere: cannot be written"),
    ],
)
def test_new_needs_a_folder(bench: Bench, tmp_path: Path, path: str, code: int, says: str) -> None:
    (tmp_path / "file").touch()
    assert says in bench("new", "suite", path, code=code).err
