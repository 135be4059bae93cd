"""`benchforge validate`: a number that cannot be is found; what really was measured is not."""

import json
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made import plain
from measured.real_result import Where, change, copied, listed_anew, numbers, shared, trial_of

from benchforge.checks.summary import concluded
from benchforge.cli.plugins.examination.inputs import Recording
from benchforge.errors import InvalidFile, OutputDamaged, Unusable
from benchforge.model.files.file import FileFault
from benchforge.model.files.folder import read_header, read_trials
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry
from benchforge.results.conclude import installed_metrics
from benchforge.results.validity.contradiction import highest, lowest
from benchforge.results.validity.faults import faults
from benchforge.results.validity.reading import counts, times
from benchforge.results.verify.recompute.compare import verify

RECORDINGS = sorted((Path(__file__).parents[1] / "outputs").glob("*/*/"))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared(tmp_path_factory)


@pytest.fixture
def changed(result: Path, tmp_path: Path) -> Path:
    return copied(result, tmp_path)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_whatever_a_tool_really_said_can_be(path: Path, tmp_path: Path) -> None:
    recording = Recording.of(path)
    part = Registry().part("loader", path.parent.name).model_validate(dict(recording.options))
    assert isinstance(part, Driver)
    try:
        reading = recording.read(part, tmp_path)
    except OutputDamaged:
        return  # what cannot be read gives no reading that could be wrong
    at_once = part.load().concurrency if part.load().rate is None else None
    assert [*counts(reading), *times(reading, at_once)] == []


def test_a_real_result_is_valid_and_each_of_its_files(bench: Bench, result: Path) -> None:
    files = [result, *result.glob("*.json"), *result.glob("trials/*/trial.json")]
    run = bench("validate", *files)
    assert (run.code, run.out.count(": valid")) == (0, len(files)), run.all
    assert "summary.json: valid: alone; nothing was computed again: name its folder" in run.out
    assert "its numbers were not computed again: benchforge verify does" in run.out


def all_faults(result: Path) -> list[FileFault]:
    """What `verify --level numbers` finds in a folder."""
    try:
        verified = verify(result, Registry(), "numbers")
    except (InvalidFile, Unusable):
        verified = verify(result, Registry(), "form")
    return [*verified.differing, *verified.cannot]


def doubled(value: Any) -> Any:
    return value * 2


def one_more(value: Any) -> Any:
    return value + 1


# A file, by its driver where it is a trial's; a value; what is done to it; and what is said.
CHANGES: list[tuple[str, Where, Callable[[Any], Any], str]] = [
    ("wrk", ("reading", "responses"), one_more, "reading.latency.counts: hold"),
    ("wrk", ("reading", "good_at_least"), one_more, "reading.good_at_least: "),
    ("wrk", ("reading", "errors", "status"), one_more, "reading.errors: hold 1, but 0 requests"),
    ("wrk", ("reading", "unanswered"), one_more, "reading.errors: hold 0, but 1 requests"),
    ("wrk", ("reading", "seconds"), lambda value: value / 2, "by Little's law"),
    ("wrk", ("reading", "seconds"), doubled, "s, by a tool that ran for"),
    ("wrk", ("reading", "latency", "sum_us"), doubled, "reading.latency: the sum is"),
    ("wrk", ("load", "concurrency"), lambda value: value // 2, "load: is another than in trial"),
    ("ab", ("reading", "percentiles_us", "50"), lambda _: 9e9, "is longer than the load of"),
    ("ab", ("reading", "percentiles_us", "50"), lambda _: 0, "is less than a lower percentile"),
    ("ab", ("reading", "seconds"), lambda value: value / 2, "by Little's law"),
    ("ab", ("reading", "document_bytes"), one_more, "the tool took 13 bytes as right, we 12"),
    ("ab", ("reading", "latency_samples"), one_more, "requests that ended"),
    ("ab", ("reading", "received_bytes"), lambda _: 1, "are less than the"),
    ("ab", ("reading", "received_bytes"), lambda value: value * 50, "came over the network"),
    ("pace", ("reading", "series", "completed", 0), one_more, "reading.series.completed: add up"),
    ("pace", ("reading", "series", "bin_s"), doubled, "s are no"),
    ("pace", ("reading", "service_time", "sum_us"), doubled, "reading.service_time: the sum is"),
    ("pace", ("reading", "connections"), lambda value: value + 100, "but the network counted"),
    ("paced", ("reading", "schedule", "intended"), one_more, "intended requests"),
    ("paced", ("reading", "schedule", "rate"), lambda value: value / 100, "came due in"),
    ("paced", ("reading", "schedule", "sent"), lambda _: 1, "but 1 requests were sent"),
    ("plain", ("reading", "cpu_user_s"), lambda value: value + 5, "s of CPU time in the load"),
    ("plain", ("observation", "usage", 0, "cpu_s"), lambda _: 1e6, "of CPU time in"),
    ("plain", ("observation", "usage", 0, "peak_pss_bytes"), lambda _: 10**18, "the machine's"),
    ("plain", ("observation", "seconds"), doubled, "are more than the phase load"),
    ("plain", ("phases", "services"), lambda value: value + 100, "but its phases take"),
    ("plain", ("answers", 1, "length"), one_more, "but its header told"),
    ("plain", ("answers", 0, "seconds"), lambda _: 99, "but its questions took"),
    ("plain", ("answers", 1, "status"), one_more, "the status was 200 before"),
    ("plain", ("processes", -1, "user_s"), lambda value: value + 0.01, "its processes used"),
    ("plain", ("processes", -1, "seconds"), lambda value: value * 100, "more than the trial's"),
    ("plain", ("number",), lambda value: value + 50, "is not the name of its folder"),
    ("plain", ("position",), lambda value: value + 50, "the plan has not this at block"),
    ("plain", ("block",), lambda value: 3 - value, "the plan has not this at block"),
    ("plain", ("seed",), one_more, "the plan has not this at block"),
    ("plain", ("attempt",), one_more, "has none before it"),
    ("plain", ("request", "path"), lambda _: "/other", "request: is another than in trial"),
    ("plain", ("seconds",), lambda value: value + 7200, "but the next one began before"),
    ("summary", ("cases", 0, "metrics", 0, "median"), lambda value: value * 1.001, "recomputed"),
    ("summary", ("cases", 0, "metrics", 0, "unit"), lambda _: "m/s", 'it is "requests/s"'),
    ("summary", ("cases", 0, "trials"), one_more, "3, but recomputed it is 2"),
    ("result", ("plan", 3, "position"), one_more, "expected block 1, position 4"),
    ("result", ("plan", 3, "declared_s"), one_more, "has others"),
    ("result", ("suite",), lambda text: text.replace("200/s", "400/s"), "is not the digest of"),
]


@pytest.mark.parametrize(("where", "path", "to", "says"), CHANGES)
def test_a_number_that_cannot_be_is_named(
    changed: Path, where: str, path: Where, to: Callable[[Any], Any], says: str
) -> None:
    file = changed / f"{where}.json"
    if not file.exists():
        file = trial_of(changed, where)
    change(file, path, to)
    actual = [fault for fault in all_faults(changed) if fault.kind == "invalid"]
    assert any(says in str(fault) for fault in actual), [str(fault) for fault in actual]
    assert all(fault.line for fault in actual)


def test_what_is_found_stands_on_a_line_with_its_path(bench: Bench, changed: Path) -> None:
    file = trial_of(changed, "pace")
    change(file, ("reading", "responses"), one_more)
    split, line, path, _ = bench("validate", changed, code=1).out.splitlines()[0].split(":", 3)
    assert (split, path.strip()) == (str(file), "reading.errors")
    assert '"errors"' in file.read_text().splitlines()[int(line) - 1]


# By these a result is read: no number of them can be another without being found.
BOUND = (
    *(("reading", "responses"), ("reading", "good_at_most"), ("reading", "errors")),
    *(("reading", "unanswered"), ("reading", "latency", "counts")),
    ("reading", "latency_by_status"),
    ("reading", "service_time", "counts"),
    ("reading", "series", "completed"),
    ("cases",),
    ("seed",),
)
# Numbers in them that one could change: labels and what is copied from elsewhere.
FREE = ("seconds", "vary", "claims")


def bound(document: Any) -> dict[Where, list[Where]]:
    """Return the paths of the numbers that are bound, below what binds them."""
    actual: dict[Where, list[Where]] = {}
    for path in numbers(document):
        for upper in BOUND:
            if path[: len(upper)] == upper and not set(FREE) & set(path):
                actual.setdefault(upper, []).append(path)
    return actual


@settings(max_examples=12)
@given(data=st.data())
def test_no_number_that_is_read_can_be_changed_alone(result: Path, data: st.DataObject) -> None:
    files = [result / "summary.json", *sorted(result.glob("trials/*/trial.json"))]
    file = data.draw(st.sampled_from(files), "file")
    # First what binds them: else most examples are the counts of one histogram.
    content = bound(json.loads(file.read_text()))
    upper = data.draw(st.sampled_from(list(content)), "of")
    path = data.draw(st.sampled_from(content[upper]), "path")
    factor = data.draw(st.sampled_from([0.5, 1.01, 2, 10]), "factor")
    value: Any = json.loads(file.read_text())
    for step in path:
        value = value[step]
    to = value * factor if isinstance(value, float) else round(value * factor)
    to = value + 1 if to == value else to
    # One of two bounds alone may be lower where the other says so.
    assume(not (path[-1] == "good_at_least" and to < value))
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(result, Path(folder))
        change(copy / file.relative_to(result), path, lambda _: to)
        assert all_faults(copy), f"{path}: {value} -> {to}"


def in_order(result: Path) -> list[Path]:
    return sorted(result.glob("trials/*/trial.json"))


def shift(file: Path, by: timedelta) -> None:
    trial = Trial.model_validate_json(file.read_text())
    change(file, ("started",), lambda _: (trial.started + by).isoformat())


def test_an_impossible_time_is_found_and_a_clock_set_back_is_allowed(changed: Path) -> None:
    everything = in_order(changed)
    for file in everything[4:]:
        shift(file, -timedelta(hours=1))
    assert faults(changed) == []
    shift(everything[2], timedelta(hours=3))
    (fault,) = faults(changed)
    assert (fault.file, fault.where) == (everything[2], "started")


def summary_faults(result: Path) -> list[FileFault]:
    """What in a result's summary its trials do not give."""
    differing = verify(result, Registry(), "numbers").differing
    return [fault for fault in differing if fault.file.name == "summary.json"]


def test_a_summary_that_is_older_than_the_last_trials_is_no_fault(changed: Path) -> None:
    # As a run leaves it that was resumed and killed: the second block is of the second session.
    header, trials = read_header(changed), read_trials(changed)
    later = next(trial for trial in trials if trial.block == 2)
    begun = later.started - timedelta(milliseconds=1)
    same = header.model_dump(include={"benchforge", "versions", "facts"})
    session = Session(number=2, started=begun, first_trial=later.number, **same)
    (changed / "sessions").mkdir()
    (changed / "sessions/0002.json").write_text(session.model_dump_json())
    # A summary of the first session alone has no later trials.
    assert summary_faults(changed)
    metrics = installed_metrics(header, changed, Registry())
    first = [trial for trial in trials if trial.number < later.number]
    older = concluded(header, first, metrics, (), ())
    (changed / "summary.json").write_text(older.model_dump_json(by_alias=True))
    listed_anew(changed)
    assert summary_faults(changed) == []


def test_a_file_of_an_older_benchforge_is_not_asked_what_it_does_not_say(changed: Path) -> None:
    for file in in_order(changed):
        document = json.loads(file.read_text())
        later = ("load", "url", "placement", "tuning", "checks", "probes", "listener", "workers")
        for name in (*later, "links"):
            document.pop(name, None)
        for process in document["processes"]:
            for name in ("seconds", "user_s", "system_s"):
                process.pop(name, None)
        for name in ("unanswered", "series", "phases", "in_flight"):
            document["reading"].pop(name, None)
        file.write_text(json.dumps(document))
    assert faults(changed) == []


def reading(**changes: Any) -> Reading:
    return plain.reading(**{"unanswered": 0} | changes)


def said(reading: Reading, at_once: int | None = None) -> list[str]:
    return [message for message, _ in (*counts(reading), *times(reading, at_once))]


def test_little_s_law_asks_what_is_known() -> None:
    slow = Histogram.of({100_000: 100})
    assert said(reading(latency=slow), 10) == []
    (law,) = said(reading(latency=slow), 9)
    assert law.startswith("by Little's law 9.95 requests were under way, but 9 can be")
    assert said(reading(latency=slow)) == []
    # A mean that was rounded to 0.1 s may have been 0.05 s.
    assert said(reading(mean_us=100_000, latency_samples=100), 6) == []


def test_percentiles_bound_a_mean_on_both_sides() -> None:
    times_us = {"50": 1000.0, "99": 2000.0, "100": 90_000.0}
    assert said(reading(percentiles_us=times_us, mean_us=1200.0, latency_samples=100)) == []
    (high,) = said(reading(percentiles_us=times_us, mean_us=8000.0, latency_samples=100))
    assert high.startswith("8,000 us, but the percentiles allow ")
    assert high.endswith(" us at most")
    (low,) = said(reading(percentiles_us=times_us, mean_us=100.0, latency_samples=100))
    assert low.endswith(" us at least")
    assert said(reading(mean_us=100_001, latency_samples=100), 6)
    # Percentiles alone say what the mean is at least: here half of 0.2 s, and half of 0.
    steps = {"0": 1.0, "50": 200_001.0, "100": 200_001.0}
    assert said(reading(percentiles_us=steps, latency_samples=100), 11) == []
    assert said(reading(percentiles_us=steps, latency_samples=100), 9)


@given(number=st.floats(1e-6, 1e9), digits=st.integers(0, 6))
def test_a_rounded_number_was_between_its_bounds(number: float, digits: int) -> None:
    rounded = round(number, digits)
    assume(rounded)
    assert lowest(rounded) <= number * (1 + 1e-9)
    assert number <= highest(rounded) * (1 + 1e-9)


WILD: list[tuple[Where, object]] = [
    (("reading", "latency", "counts"), {str(10**18): 1}),
    (("reading", "latency", "sum_us"), 10**4000),
    (("reading", "responses"), 10**4000),
    (("reading", "seconds"), 5e-324),
    (("reading", "seconds"), 1e300),
    (("seconds",), sys.float_info.max),
    (("started",), "0001-01-01T00:00:00"),
    (("started",), "9999-12-31T23:59:59+00:00"),
    (("answers", 0, "headers", "content-length"), "9" * 5000),
    (("reading", "percentiles_us"), {"nan": 1.0, "x": 2.0}),
]


@pytest.mark.parametrize(("path", "value"), WILD, ids=range(len(WILD)))
def test_wild_numbers_are_faults_and_no_more(changed: Path, path: Where, value: object) -> None:
    change(trial_of(changed, "pace"), path, lambda _: value)
    assert all(fault.kind == "invalid" for fault in all_faults(changed))
    assert all_faults(changed)
