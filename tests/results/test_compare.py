"""`benchforge compare`: what changed, as far as results can tell."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, Told
from measured.small_results import change_cases, read, session, write

Session = Callable[..., Path]
# How the machine did on each of six days; the reference does the same on each.
DAYS = (1.0, 1.05, 0.93, 1.02, 0.97, 1.01)
OWN = (1.0, 1.004, 0.995, 1.003, 0.998, 1.001)
NOISE = {"id": "N1", "scope": "trial", "subject": "apparatus", "status": "fail", "transient": True}
NOISE |= {"message": "others used 90 % of the CPUs"}


@pytest.fixture
def on(original: Path, tmp_path: Path) -> Session:
    def on(day: int, by: Mapping[str, float] | None = None, **header: Any) -> Path:
        (tmp_path / "results").mkdir(exist_ok=True)
        return session(original, tmp_path / "results", day, by, **header)

    return on


@pytest.fixture
def past(on: Session, tmp_path: Path) -> Path:
    """A folder of six results."""
    for day, (machine, mine) in enumerate(zip(DAYS, OWN, strict=True)):
        on(day, {"one": machine, "two": machine * mine})
    return tmp_path / "results"


def row(expected: Told, server: str, metric: str = "throughput") -> str:
    lines = expected.out.splitlines()
    actual = [line for line in lines if f" {server} " in line and metric in line]
    assert actual, expected.all
    return actual[0]


def compared(bench: Bench, *words: str | Path, code: int | None = None) -> Told:
    return bench("compare", "--details", *words, code=code)


def against(bench: Bench, new: Path, past: Path, *words: str) -> Told:
    return compared(bench, new, "--against", past, "--reference", "one", *words)


# Two results


def test_with_a_reference_it_is_told_by_how_much_that_moved(bench: Bench, on: Session) -> None:
    new = on(1, {"one": 0.9, "two": 0.45})
    run = compared(bench, on(0), new, "--reference", "one", code=0)
    assert "NO MODEL: 1 past session: a prediction takes 5" in run.out
    assert "the reference one itself moved by -10.0 % in ping · one · closed: throughput" in run.out


def test_summary_files_are_compared_too(bench: Bench, on: Session, tmp_path: Path) -> None:
    old, new = on(0), on(1, {"two": 2})
    for result in (old, new):
        assert bench("report", result, "--write").code == 0
    full = compared(bench, old, new)
    run = compared(bench, old / "summary.json", new / "summary.json")
    assert (run.code, row(run, "two")) == (0, row(full, "two"))


def test_one_block_has_no_interval(bench: Bench, on: Session) -> None:
    new = on(1)
    for path in new.glob("trials/*/trial.json"):
        if read(path)["block"] > 1:
            shutil.rmtree(path.parent)
    run = compared(bench, on(0), new, code=0)
    assert "1 block a case, so no interval: it needs 3" in run.out
    assert "NOT COMPLETE" in run.out
    assert row(run, "two").count("[") == 1


# Several, and a reference


def test_the_prediction_decides(bench: Bench, on: Session, past: Path) -> None:
    same = against(bench, on(10, {"one": 0.9, "two": 0.9}), past)
    assert same.code == 0, same.all
    assert row(same, "two").endswith("not shown")
    assert "each at 95 %: without a change, about" in same.out
    worse = against(bench, on(11, {"one": 1.1, "two": 0.99}), past)
    assert worse.code == 1, worse.all
    assert row(worse, "two").endswith("WORSE")
    assert "WORSE: ping · two · closed: throughput: 0.8999 [" in worse.out
    better = against(bench, on(12, {"one": 1.0, "two": 1.1}), past)
    assert (better.code, row(better, "two").split()[-1]) == (0, "better")
    shutil.rmtree(past / "small-011")
    small = on(13, {"one": 1.0, "two": 0.95})
    shutil.rmtree(past / "small-010")
    shutil.rmtree(past / "small-012")
    assert against(bench, small, past).code == 1
    assert against(bench, small, past, "--least", "10%").code == 0


def test_a_folder_may_hold_the_new_one_and_others(bench: Bench, on: Session, past: Path) -> None:
    new = on(10)
    on(11)
    on(7, name="other")
    on(8, smoke=True)
    shutil.copytree(past / "small-000", past / "twice")
    shutil.copytree(new, past / "again")
    (past / "small-001" / "result.json").write_text("{")
    comparison = against(bench, new, past)
    assert comparison.code == 0, comparison.all
    text = "\n".join(line for line in comparison.err.splitlines() if line.startswith("left out: "))
    for says in ("is the same result as", "was measured after", "suite was 'other', is 'small'"):
        assert text.count(says) == 1, says
    for says in ("is a smoke", "is not JSON", "is there already"):
        assert text.count(says) == 1, says
    assert comparison.out.count("\nold: ") + comparison.out.startswith("old: ") == 5


def of_two(result: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the files of server two's trials, and what they hold."""
    for path in result.glob("trials/*/trial.json"):
        trial = read(path)
        if trial["case"]["server"] == "two":
            yield path, trial


def test_what_was_never_there_before_is_loud(bench: Bench, on: Session, past: Path) -> None:
    new = on(10)
    for path, trial in of_two(new):
        trial["reading"]["errors"] = {**trial["reading"]["errors"], "timeout": 7}
        write(path, trial)
    comparison = against(bench, new, past)
    text = "LOOK AT ping · two · closed: errors timeout: it was 0 and is 7;"
    assert text in comparison.out, comparison.all


def test_a_case_without_a_believed_trial_has_no_answer(
    bench: Bench, on: Session, past: Path
) -> None:
    new = on(10)
    failure = {"stage": "start", "message": "it died"}
    for path, trial in of_two(new):
        write(path, {**trial, "reading": None, "observation": None, "failure": failure})
    assert against(bench, new, past).code == 4


@pytest.mark.parametrize("spoiled", [("old",), ("new",), ("old", "new")])
def test_where_no_line_is_believed_in_both_nothing_was_compared(
    bench: Bench, on: Session, spoiled: tuple[str, ...]
) -> None:
    pair = {"old": on(0), "new": on(1)}
    for name in spoiled:
        for path in pair[name].glob("trials/*/trial.json"):
            write(path, {**read(path), "checks": [NOISE]})
    run = compared(bench, pair["old"], pair["new"], code=4)
    assert "NOT BELIEVED: no line has believed numbers in both" in run.out


def test_one_line_that_is_believed_in_both_is_a_comparison(bench: Bench, on: Session) -> None:
    old, new = on(0), on(1)
    for path, trial in of_two(new):
        write(path, {**trial, "checks": [NOISE]})
    assert compared(bench, old, new).code == 0


# What cannot be compared


@pytest.mark.parametrize("name", ["kernel", "governor"])
def test_another_machine_is_refused_by_name_and_compared_anyway(
    bench: Bench, on: Session, name: str
) -> None:
    old, new = on(0, facts={name: "then"}), on(1, {"two": 0.1}, facts={name: "now"})
    run = compared(bench, old, new)
    assert (run.code, f"{name} was 'then', is 'now'" in run.err) == (2, True), run.all
    assert not run.out
    run = compared(bench, old, new, "--anyway", code=0)
    assert f"COMPARED ANYWAY: {name} was 'then', is 'now'" in run.out


def test_what_one_does_not_tell_is_not_taken_for_the_same(bench: Bench, on: Session) -> None:
    old = on(0)
    header = read(old / "result.json")
    del header["facts"]["kernel"]
    write(old / "result.json", header)
    assert "kernel was not told, is '" in compared(bench, old, on(1), code=2).err


def test_another_load_tool_is_refused_and_another_program_is_told(
    bench: Bench, on: Session
) -> None:
    old = on(0, versions={"loader-wrk": "4.1", "waitress": "2"}, benchforge="0.0.1")
    new = on(1, versions={"loader-wrk": "4.2", "waitress": "3"})
    run = compared(bench, old, new, code=2)
    assert "loader-wrk was '4.1', is '4.2'" in run.err
    same = on(2, versions={"loader-wrk": "4.1", "waitress": "3"})
    run = compared(bench, old, same, code=0)
    assert "differs: waitress was '2', is '3'" in run.out
    assert "differs: benchforge was '0.0.1', is '" in run.out


def test_even_worse_is_no_verdict_on_another_machine(bench: Bench, on: Session, past: Path) -> None:
    new = on(10, {"two": 0.5}, facts={"kernel": "9"})
    comparison = against(bench, new, past)
    assert comparison.code == 2, comparison.all
    assert "no older result to compare with" in comparison.err
    assert "kernel was '" in comparison.err
    comparison = against(bench, new, past, "--anyway")
    assert comparison.code == 0, comparison.all
    assert "these are not verdicts" in comparison.out


def test_what_has_no_partner_and_what_is_another_thing_are_named(bench: Bench, on: Session) -> None:
    old, new = on(0), on(1)
    change_cases(new, lambda case: case.update(digest=f"{case['server']:0>16}"))
    run = compared(bench, old, new, code=0)
    assert run.out.count("the app's code, or data: the options are the same") == 2
    suite = read(new / "result.json")["suite"].replace("connections = 2", "connections = 4")
    write(new / "result.json", {**read(new / "result.json"), "suite": suite})
    run = compared(bench, old, new)
    assert "options: loaders.closed.connections was 2, is 4" in run.out
    change_cases(new, lambda case: case.update(server=case["server"].replace("two", "three")))
    run = compared(bench, old, new)
    assert f"only in {old}: ping · two · closed" in run.out
    assert f"not in {old}: ping · three · closed" in run.out
    change_cases(new, lambda case: case.update(driver="other"))
    assert "have no case in common" in compared(bench, old, new, code=2).err


def test_a_reference_that_is_another_thing_is_none(bench: Bench, on: Session, past: Path) -> None:
    new = on(10)
    change_cases(
        new, lambda case: case.update(digest="0" * 16) if case["server"] == "one" else None
    )
    comparison = against(bench, new, past)
    assert (comparison.code, "the reference one has changed" in comparison.err) == (2, True), (
        comparison.all
    )


@pytest.mark.samples(7)
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("compare", "A"), "nothing to compare it with"),
        (("compare", "A", "A"), "is the same result as"),
        (("compare", "A", "B", "A"), "it is unclear which is the new one"),
        (("compare", "A", "nowhere"), "nowhere/result.json: No such file"),
        (("compare", "A", "small.toml"), "is not JSON"),
        (("compare", "A", "--against", "B"), "was measured after"),
        (("compare", "A", "B", "--reference", "three"), "available servers: one, two"),
        (("compare", "A", "B", "--metric", "speed"), "available metrics: "),
        (("compare", "A", "B", "--least", "much"), "--least much: not a share"),
        (("compare", "A", "B", "--least", "-3%"), "not a share"),
        (("compare", "A", "B", "--least", "nan"), "not a share"),
        (("compare", "A", "SMOKE"), "is a smoke: its numbers mean nothing"),
        (("compare", "A", "NAN"), "is not JSON"),
        (("compare", "A", "UNIT"), "is in requests/s, in "),
        (("compare", "A", "OTHER"), "suite was 'small', is 'other'"),
        (("history", "nowhere"), "nowhere/result.json: No such file"),
        (("history", "empty"), "name the folder of a result"),
        (("history", "A", "--reference", "three"), "available servers: one, two"),
        (("history", "A", "--metric", "speed"), "available metrics: "),
        (("history", "A", "--json", "--csv"), "--json and --csv exclude each other"),
        (("history", "SMOKE"), "no result: "),
    ],
)
def test_bad_input_is_told_in_a_line(
    bench: Bench, on: Session, original: Path, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    places = {"A": on(0), "B": on(1), "small.toml": original.parents[1] / "small.toml"}
    places["SMOKE"], places["OTHER"] = on(2, smoke=True), on(3, name="other")
    (tmp_path / "empty").mkdir()
    for name in ("NAN", "UNIT"):
        places[name] = tmp_path / f"{name}.json"
        assert bench("report", places["B"], "--write").code == 0
        text = (places["B"] / "summary.json").read_text()
        first = text.index('"value": ') + len('"value": ')
        places[name].write_text(
            f"{text[:first]}NaN{text[text.index(',', first) :]}"
            if name == "NAN"
            else text.replace('"unit": "', '"unit": "k')
        )
    run = bench(words[0], "--details", *(places.get(word, word) for word in words[1:]))
    assert (run.code, says in run.err) == (2, True), run.all
    assert len(run.err.splitlines()) <= 2, run.err
    assert not run.out
