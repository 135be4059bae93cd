"""Reading a result from disk, and saying what is wrong with it."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import plain
from pydantic_core import from_json

from benchforge.errors import InvalidFile, Unusable
from benchforge.model.files.file import FileFault
from benchforge.model.files.folder import read_header, read_trials
from benchforge.model.files.result import MetricUse
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.trial import StartedProcess, Trial
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.places import dotted, hides, places
from benchforge.parts.registry import Registry
from benchforge.results.validity.faults import FolderFiles, faults
from benchforge.results.verify.recompute.compare import verify
from benchforge.stats.summary.summarize import summarize
from benchforge.text.readable import conjoined

KINDS = ("result", "trial", "summary", "session", "ceiling", "manifest", "calibration")
NOT_OURS = f"is not ours: it does not say that its kind is {conjoined(KINDS, 'or')}"
CASE = plain.named("wsgiref", vary={"a.b": 1})
DIGEST = hashlib.sha256(b"").hexdigest()
HEADER = plain.header(CASE, blocks=2, title="Hello", suite_sha256=DIGEST, facts={"cpus": 2})
ANSWER = Answer(status=200, headers={}, length=0, sha256=DIGEST, seconds=0.01)


def trial(number: int) -> Trial:
    output: dict[str, Any] = {"stdout": "server.out", "stderr": "server.err", "exit_code": 0}
    process = StartedProcess(label="server", argv=("true",), environment={}, **output)
    fields: dict[str, Any] = {"number": number, "block": number, "seconds": 3, "case": CASE}
    fields |= {"processes": (process,), "answers": (ANSWER, ANSWER)}
    reading = plain.reading(3, latency=Histogram.of({17: 3}))
    return plain.trial(**fields, reading=reading, observation=plain.observation())


def write(file: Path, value: Frozen) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value.model_dump_json(indent=2) + "\n")
    return file


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """A result of two trials, with its summary."""
    trials = (trial(1), trial(2))
    write(tmp_path / "result.json", HEADER)
    for item in trials:
        folder = write(tmp_path / f"trials/{item.number:04}/trial.json", item).parent
        (folder / "server.out").write_text("")
        (folder / "server.err").write_text("")
    write(tmp_path / "summary.json", summarize(HEADER, trials, {}))
    return tmp_path


def change(file: Path, edit: Callable[[Any], object]) -> None:
    value = json.loads(file.read_text())
    edit(value)
    file.write_text(json.dumps(value, indent=2))


def told(file_faults: list[FileFault]) -> list[tuple[str, str, str]]:
    return [(fault.file.name, fault.where, fault.message) for fault in file_faults]


def test_what_was_written_is_read(result: Path) -> None:
    assert read_header(result) == HEADER
    assert read_trials(result) == (trial(1), trial(2))
    assert faults(result) == []
    files = [result / "result.json", result / "summary.json", result / "trials/0001/trial.json"]
    assert [faults(file) for file in files] == [[], [], []]


def test_trials_come_by_number_and_an_unfinished_folder_is_none(result: Path) -> None:
    (result / "trials/0002").rename(result / "trials/0000")
    (result / "trials/0003").mkdir()
    assert [item.number for item in read_trials(result)] == [1, 2]


def test_a_fault_is_told_with_its_path_and_line(result: Path) -> None:
    file = result / "trials/0001/trial.json"
    change(file, lambda value: value["reading"]["latency"]["counts"].update({"17": "many"}))
    (fault,) = faults(file)
    assert fault.where == "reading.latency.counts.17"
    assert fault.line is not None
    assert '"17": "many"' in file.read_text().splitlines()[fault.line - 1]
    assert fault.message == ("input should be a valid integer, got 'many'")
    assert str(fault) == f"{file}:{fault.line}: {fault.where}: {fault.message}"
    with pytest.raises(InvalidFile, match=r"trial\.json:\d+: reading\.latency\.counts\.17: "):
        read_trials(result)


def test_missing_and_unknown_fields_are_told_in_plain_words(result: Path) -> None:
    file = result / "result.json"

    def edit(value: Any) -> None:
        del value["plan"][1]["seed"]
        value["colour"] = "red"

    change(file, edit)
    assert told(faults(file)) == [
        ("result.json", "plan.1.seed", "is missing"),
        ("result.json", "colour", "is not known here"),
    ]


BY_NUMBER = "does not say its format by a whole number, but by"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "is not JSON: EOF while parsing a value"),
        ('{\n"kind"', 2, "is not JSON: EOF while parsing an object"),
        ('{\n"kind": NaN}', 2, "is not JSON: expected value"),
        ("[" * 100_000, 1, "is not JSON: recursion limit exceeded"),
        ("[]", None, NOT_OURS),
        ('{"kind": ["trial"]}', None, NOT_OURS),
        (
            '{"kind": "trial", "format": 3}',
            None,
            "has format 3, this benchforge reads 2: use the version that wrote it",
        ),
        ('{"kind": "trial", "format": true}', None, f"{BY_NUMBER} true"),
        ('{"kind": "trial", "format": 2.0}', None, f"{BY_NUMBER} 2.0"),
    ],
)
def test_unreadable_files_fail(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    file = tmp_path / "some.json"
    file.write_text(text)
    assert faults(file) == [FileFault(file, "", line, message, "unreadable")]


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path / "none.json")
    assert (fault.message, fault.kind) == ("No such file or directory", "unreadable")
    (fault,) = faults(Path("/dev/zero"))
    assert (fault.message, fault.kind) == ("is not a file", "unreadable")
    (fault,) = faults(tmp_path)
    assert (fault.file.name, fault.kind) == ("result.json", "unreadable")
    with pytest.raises(Unusable, match=r"result\.json: No such file") as caught:
        read_header(tmp_path)
    assert caught.value.hint == "name the folder of a result: it contains result.json"


def test_a_trial_in_the_place_of_the_header_is_unreadable(result: Path) -> None:
    write(result / "result.json", trial(1))
    (fault,) = faults(result)
    assert fault.kind == "unreadable"
    assert fault.message == "is not ours: it does not say that its kind is result"


def test_what_parsers_accept_silently_is_a_fault(result: Path) -> None:
    file = result / "result.json"
    file.write_text(file.read_text().replace('"cpus": 2', '"cpus": 2,\n"cpus": 1e999'))
    assert told(faults(file)) == [
        ("result.json", "facts.cpus", "occurs twice in its object"),
        ("result.json", "facts.cpus", "is beyond the largest number"),
    ]


def test_files_of_a_result_are_checked_against_each_other(result: Path) -> None:
    def edit(value: Any) -> None:
        value["number"] = 1
        value["block"] = 3
        value["case"]["server"] = "other"
        value["reading"] = None
        value["processes"][0]["stdout"] = "gone.out"

    change(result / "trials/0002/trial.json", edit)
    other = "'hello · other · wrk · b=1'"
    assert told(faults(result)) == [
        ("trial.json", "reading", "a trial has a reading, or a failure that says why not"),
        ("trial.json", "processes.0.stdout", "no such file beside the trial: 'gone.out'"),
        ("trial.json", "number", f"1 is already the number of {result}/trials/0001/trial.json"),
        ("trial.json", "case", f"the case {other} is not in the plan of result.json"),
    ]


def test_a_summary_whose_metric_is_not_installed_is_not_called_valid(result: Path) -> None:
    use = MetricUse(label="odd", use="no_such", options={}, unit="s", better="lower")
    write(result / "result.json", HEADER.model_copy(update={"metrics": (use,)}))
    with pytest.raises(Unusable, match="no metric named 'no_such'"):
        verify(result, Registry(), "numbers")


def test_a_header_whose_cases_and_plan_differ_is_told(result: Path) -> None:
    change(result / "result.json", lambda value: value["cases"][0].update(server="other"))
    assert told(faults(result / "result.json")) == []
    wrong = ["plan.0.case", "plan.1.case", "cases.0"]
    assert [fault.where for fault in faults(result)[:3]] == wrong


SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
hostile = settings(suppress_health_check=SLOW)


@hostile
@given(data=st.data())
def test_a_truncated_file_is_unreadable(result: Path, data: st.DataObject) -> None:
    full = trial(1).model_dump_json(indent=1).encode()
    file = result / "trials/0001/trial.json"
    file.write_bytes(full[: data.draw(st.integers(0, len(full) - 1))])
    assert [fault.kind for fault in faults(file)] == ["unreadable"]
    assert [fault.kind for fault in faults(result)][:1] == ["unreadable"]
    with pytest.raises(Unusable):
        read_trials(result)


@hostile
@given(data=st.binary())
def test_bytes_of_any_kind_are_unreadable(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "some.json"
    file.write_bytes(data)
    assert [fault.kind for fault in faults(file)] == ["unreadable"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=5,
)


@hostile
@given(data=st.data(), ascii_only=st.booleans())
def test_mutated_json_is_an_error(result: Path, data: st.DataObject, ascii_only: bool) -> None:
    files: dict[str, Frozen] = {"result.json": HEADER, "trials/0001/trial.json": trial(1)}
    files["summary.json"] = summarize(HEADER, (trial(1),), {})
    name = data.draw(st.sampled_from(list(files)), label="file")
    value: Any = files[name].model_dump(mode="json")
    path_: Any = value
    while True:
        keys = sorted(path_) if isinstance(path_, dict) else range(len(path_))
        key = data.draw(st.sampled_from(keys))
        if not (isinstance(path_[key], dict | list) and path_[key] and data.draw(st.booleans())):
            break
        path_ = path_[key]
    path_[key] = data.draw(json_values)
    text = json.dumps(value, ensure_ascii=ascii_only)
    (result / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    for path in (result, result / name):
        for fault in faults(path):
            assert fault.message
            assert fault.line is None or fault.line >= 1
            str(fault).encode()


@given(json_values)
def test_every_value_has_its_place(value: Any) -> None:
    text = json.dumps(value, indent=1)
    actual = places(text)
    assert actual.twice == []

    def check(value: Any, path: tuple[str | int, ...]) -> None:
        assert actual.has(path), dotted(path)
        if isinstance(value, dict):
            for key, inner in value.items():
                check(inner, (*path, key))
                line = text.splitlines()[actual.line((*path, key)) - 1]
                assert line.strip().startswith(json.dumps(key))
        if isinstance(value, list):
            for number, inner in enumerate(value):
                check(inner, (*path, number))

    check(value, ())


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A JSON text that Python's own writer would not write: keys twice, infinity, odd spaces."""
    space = st.sampled_from(["", " ", "\n", "\t"])
    key = st.sampled_from(["a", "b", ":", '\\":', "\u00e9", "e999"]).map(lambda item: f'"{item}"')
    number = st.sampled_from(["1", "-1e999", "1e308", "9" * 308, "9" * 309, "-" + "1" * 400, "1.5"])
    leaf = st.one_of(key, number, st.sampled_from(["true", "null"]))

    def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        member = st.tuples(key, space, space, inner).map(lambda item: "{}{}:{}{}".format(*item))
        return st.one_of(
            st.lists(member, max_size=4).map(lambda part: f"{{{','.join(part)}}}"),
            st.lists(inner, max_size=4).map(lambda part: f"[{','.join(part)}]"),
        )

    members = draw(st.lists(st.tuples(key, space, st.recursive(leaf, containers)), max_size=4))
    return "{" + ",".join(f"{name}{gap}:{value}" for name, gap, value in members) + "}"


@given(documents())
def test_a_text_that_is_not_scanned_hides_nothing(text: str) -> None:
    scanned = places(text)
    if scanned.twice or scanned.infinite:
        assert hides(text.encode(), from_json(text))


def test_of_a_file_without_a_fault_no_line_is_looked_for(result: Path) -> None:
    files = FolderFiles(result)
    assert files.header is not None
    assert files.unread == []
    for parsed in (files.header, *files.trials):
        assert "places" not in vars(parsed)
