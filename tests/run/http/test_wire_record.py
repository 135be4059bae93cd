"""What the windows of a load say in numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchforge.model.trial.answers.monitor import LoadAnswers, MonitorAnswer
from benchforge.results.validity.reading import windows
from benchforge.run.http.wire.record import WireRecord, WireWindow, record_of, tallied

FIELDS = {"status": 200, "content_type": "", "length": 1, "sha256": "0", "answers": 0}
DISTINCT = tuple(
    MonitorAnswer.model_validate({**FIELDS, **fields})
    for fields in (
        {},
        {"kind": "a"},
        {"kind": "a", "wrong": "it differs"},
        {"kind": "b", "other_body": True},
        {"kind": "b", "judged": False},
    )
)
COUNTS = st.integers(0, 9)
ANSWERS = st.lists(st.tuples(st.integers(0, len(DISTINCT) - 1), st.floats(0, 9)), max_size=9)
WINDOWS = st.builds(
    WireWindow,
    place=st.sampled_from(["load", "around"]),
    start_s=st.floats(-9, 9),
    open_s=st.floats(0, 1),
    answers=ANSWERS.map(tuple),
    cut=st.dictionaries(st.sampled_from(["", "a", "b"]), COUNTS),
    lost_packets=COUNTS,
)
RECORDS = st.builds(
    WireRecord, answers=st.just(DISTINCT), windows=st.lists(WINDOWS, max_size=9).map(tuple)
)


@given(RECORDS)
def test_each_answer_of_each_window_is_counted_once(record: WireRecord) -> None:
    numbers = tallied(record_of(record.model_dump_json().encode()))
    assert numbers == tallied(record)
    answers = sum(len(window.answers) for window in record.windows)
    counted = [*(numbers.load, numbers.around), *numbers.kinds.values()]
    assert sum(item.answers + item.unjudged for item in counted[:2]) == answers
    assert sum(answer.answers for answer in numbers.answers) == answers
    assert sum(item.windows for item in counted[:2]) == len(record.windows)
    for item_ in counted:
        assert item_.wrong <= item_.wrong_answers <= item_.answers
        assert item_.wrong + item_.other_bodies <= item_.judged <= item_.windows
    unnamed = [n for w in record.windows for n, _ in w.answers if w.place == "load" and n == 0]
    of_kinds = sum(value.answers for value in numbers.kinds.values())
    assert of_kinds + len(unnamed) == numbers.load.answers


@given(RECORDS)
def test_no_record_gives_numbers_that_contradict_one_another(record: WireRecord) -> None:
    assert not list(windows(tallied(record)))


@pytest.mark.parametrize(
    ("path_", "name", "more"),
    [
        *[(path, "judged", 9) for path in ("load", "around", "kind")],
        *[(path, "wrong", 9) for path in ("load", "around", "kind")],
        *[("load", name, 9) for name in ("other_bodies", "wrong_answers")],
        *[("load", "answers", -2), ("around", "wrong", -1), ("kind", "answers", 9)],
    ],
)
def test_numbers_that_contradict_one_another_are_named(path_: str, name: str, more: int) -> None:
    answers = ((1, 0.1), (2, 0.1), (2, 0.1))
    wire_window = WireWindow(place="load", start_s=0, open_s=0.1, answers=answers)
    pair = wire_window, wire_window.model_copy(update={"place": "around"})
    numbers = tallied(WireRecord(answers=DISTINCT, windows=pair)).model_dump()
    part = numbers["kinds"]["a"] if path_ == "kind" else numbers[path_]
    part[name] = max(0, part[name] + more)
    assert list(windows(LoadAnswers.model_validate(numbers)))
    assert list(windows(tallied(WireRecord(windows=pair, answers=DISTINCT, why="TLS"))))


def test_a_record_that_names_an_answer_it_lacks_is_none() -> None:
    window = WireWindow(place="load", start_s=0, open_s=0.001, answers=((1, 0.0),))
    text = WireRecord(answers=DISTINCT[:1], windows=(window,)).model_dump_json()
    for content in (text, text[:-1], "{}x", ""):
        with pytest.raises(ValueError, match=r"."):
            record_of(content.encode())
