"""What people see of a result, from summaries made by hand."""

import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.raw import raw
from benchforge_reporters.terminal.report import Terminal
from benchforge_reporters.text.words import requested
from hypothesis import given
from hypothesis import strategies as st
from made.shown import case, line, result, trial
from screens import compared

from benchforge.model.summary.summary import DoubtedTrial, FailedTrial, MetricSummary, Summary
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Failure, StartedProcess, Trial
from benchforge.parts.registry import Registry
from benchforge.text import safe
from benchforge.text.readable import Scale, scale

TWO = result(
    case(
        "wsgiref",
        line("throughput", "1/s", 2851.3, 2790, 2902.44),
        line("errors", "1", 0, 0, 0, label="status"),
        line("errors", "1", 0, 0, 0, label="timeout"),
        line("latency", "us", 900, 1100, 1300, label="p50"),
        line("latency", "us", 2_000_000, 1_900_000, 2_000_000, label="p99", at_least=True),
        line("cpu", "s", 0.000351, 0.00034, 0.00036, label="server"),
    ),
    case(
        "gunicorn",
        line("throughput", "1/s", 28513, 27904, 29024),
        line("errors", "1", 12, 10, 14, label="status"),
        line("errors", "1", 0, 0, 0, label="timeout"),
        line("latency", "us", 90, 110, 130, label="p50"),
        line("latency", "us", 0, 0, 0, label="p99", text="the tool prints no p99"),
        line("cpu", "s", 0.0000351, 0.000034, 0.000036, label="server"),
    ),
)


def lines_of(text: str) -> list[str]:
    """Below one another, so that a difference is seen; with hyphens, which all can type."""
    horizontal = "\N{BOX DRAWINGS LIGHT HORIZONTAL}"
    return text.replace("\N{EN DASH}", "-").replace(horizontal, "-").splitlines()


SMALL = tuple(item.model_copy(update={"metrics": item.metrics[:3]}) for item in TWO.cases)
FEW = TWO.model_copy(update={"cases": SMALL})


def test_states_of_trials_add_up_and_a_mix_is_titled_by_its_kinds() -> None:
    used = [DoubtedTrial(trial=1, block=1, attempt=1, checks=(), used=True, disturbed=True)]
    used += [item.model_copy(update={"trial": 2, "disturbed": False}) for item in used]
    doubted = case("wsgiref", line("throughput", "1/s", 1, 2, 3), believed=1, doubted=tuple(used))
    summary = result(doubted)
    kind = StreamKind(share=1, records=1, request=Request())
    kinds: dict[str, StreamKind] = {"list": kind, "item": kind, "order": kind}
    mix = Stream(records=3, sha256="ab", kinds=kinds)
    sent = trial().model_copy(update={"stream": mix, "case": doubted.case})
    assert "3 of 3: 1 believed, 1 disturbed, 1 not believed" in Terminal().text(summary, (sent,))
    assert requested(summary.cases, (sent,)).startswith("3 kinds of requests by ")


@given(st.integers(1, 200))
def test_no_width_cuts_a_number(width: int) -> None:
    text = "\n".join(lines_of(Terminal().text(TWO, (), width=width)))
    for number in ("28,510", "[27,900-29,020]", "2,851", "! status 12", "1.1", "[0.9-1.3]"):
        assert number in text
    assert "…" not in text


def test_errors_show_the_total_and_the_classes_that_occurred() -> None:
    errors = (
        line("errors", "1", 15, 10, 17),
        line("errors", "1", 12, 10, 14, label="status"),
        line("errors", "1", 0, 0, 0, label="connect"),
        line("errors", "1", 3, 0, 3, label="timeout"),
    )
    rows = lines_of(Terminal().text(result(case("wsgiref", *errors)), ()))
    assert [" ".join(row.split()) for row in rows[8:11]] == [
        "wsgiref 3 of 3 ! 15 [10-17]",
        "status 12 [10-14]",
        "timeout 3 [0-3]",
    ]


def test_a_remark_on_a_value_is_a_footnote_and_an_estimator_is_told(tmp_path: Path) -> None:
    known_values = line("latency", "s", 0.5, label="p99")
    sample = replace(known_values.samples[0].sample, why="few samples")
    samples = (replace(known_values.samples[0], sample=sample),)
    changed = {"samples": samples, "estimator": "type-1 quantile"}
    summary = result(case("wsgiref", known_values.model_copy(update=changed)))
    rows = lines_of(Terminal().text(summary, ()))
    assert rows[8:11] == ["wsgiref   3 of 3       500 (1)", "", "(1) latency p99: few samples"]
    text = "latency p99: type-1 quantile"
    assert f"- {text}\n" in Markdown().report(summary, (), tmp_path)[0].read_text()
    assert text in seen(summary, tmp_path).words


def test_reasons_that_differ_in_their_numbers_of_responses_are_one_footnote() -> None:
    def p99(value: float | None, *counts: int) -> MetricSummary:
        entries = line("latency", "s", 0.5, label="p99")
        of_trial = entries.samples[0]
        text = "imprecise with {} responses: 10000 are enough"
        if value is None:
            text = "only {} responses: p99 needs 1000"
        reasons = (text.format(count) for count in counts)
        values = (replace(of_trial.sample, value=value, why=reason) for reason in reasons)
        samples = tuple(replace(of_trial, trial=n, sample=item) for n, item in enumerate(values, 1))
        listed = "; ".join(f"{sample.sample.why} (trial {sample.trial})" for sample in samples)
        unknown = {} if value else {"median": None, "why": listed}
        return entries.model_copy(update={"samples": samples, **unknown})

    summary = result(
        case("north", p99(0.5, 2000, 1500)),
        case("south", p99(0.5, 9000)),
        case("east", p99(None, 90, 80)),
        case("west", p99(None, 999)),
    )
    rows = lines_of(Terminal().text(summary, ()))
    assert [row for row in rows if row.startswith("(")][:2] == [
        "(1) latency p99: imprecise with 1500 to 9000 responses: 10000 are enough",
        "(2) latency p99: only 80 to 999 responses: p99 needs 1000",
    ]
    marks = [re.findall(r"\((\d)\)", row) for row in rows if "3 of 3" in row]
    assert marks == [["1"], ["1"], ["2"], ["2"]]


LOG = "".join(f"line {number}\n" for number in range(9)) + "\x1b[2Jboom\n"
DEATH = Failure(stage="start", message="the server died", hint="see its log", log=LOG)
FAILED = result(
    case(
        "wsgiref",
        failed=[FailedTrial(trial=2, block=1, attempt=2, failure=DEATH)],
        notes=["warn: the loader was late (1 of 1 trials)"],
        vary={"servers.wsgiref.workers": 4},
        trials=0,
    )
)


@pytest.mark.parametrize(
    ("name", "summary"), [("small", FEW), ("too-wide", TWO), ("failed", FAILED)]
)
def test_a_table_on_80_columns_has_whole_numbers_and_the_ends_of_logs(
    name: str, summary: Summary
) -> None:
    text = Terminal().text(summary, (), width=80)
    compared(f"table-{name}.txt", text)
    table, _, _ = text.partition("trial 2 (block")  # no failure is cut to a width
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_what_nobody_may_overlook_stands_above_the_first_table(name: str, tmp_path: Path) -> None:
    full = FAILED.model_copy(update={"smoke": True, "complete": False})
    file = Registry().part("reporter", name)().report(full, (trial(),), tmp_path)[0]  # type: ignore[attr-defined]
    assert "the server died" in file.read_text()
    text = file.read_text().partition("In the tables")[0]
    smoke = "SMOKE: shows that everything works; the numbers mean nothing"
    for alarm in (smoke, "NOT COMPLETE: some", "FAILED TRIALS: 1"):
        assert alarm in text


def test_a_terminal_has_no_footnote_of_a_column_that_it_does_not_show() -> None:
    known_values = [line("throughput", "1/s", 1), line("errors", "1", 0), line("cpu", "s", 1)]
    hidden = line("memory", "B", 0, text="nobody looked")
    few = result(case("wsgiref", *known_values, hidden), case("other", line("memory", "B", 1)))
    assert "nobody looked" in Terminal().text(few, (), width=80)
    assert "nobody looked" not in Terminal().text(few, (), width=30)


def test_what_nobody_has_a_value_of_is_a_note_and_no_column() -> None:
    reason = "in turns: nobody looked"
    hidden = line("errors", "1", 0, text=reason), line("memory", "B", 0, text=reason)
    text = Terminal().text(result(case("wsgiref", line("throughput", "1/s", 1), *hidden)), ())
    assert f"unknown: errors, memory: {reason}" in text
    assert text.count(reason) == 1


def test_a_column_without_any_value_has_no_unit(tmp_path: Path) -> None:
    summary = result(case("wsgiref", line("latency", "us", 0, text="not told")))
    assert re.search(r"\| +latency \|", Markdown().report(summary, (), tmp_path)[0].read_text())


def test_raw_shows_less_of_a_case_that_was_shown_before(tmp_path: Path) -> None:
    reading = Reading(seconds=1, responses=1, good_at_least=1, good_at_most=1, errors={})
    trials = [
        trial(number, started()).model_copy(update={"failure": None, "reading": reading})
        for number in (1, 2)
    ]
    for item in trials:
        folder = tmp_path / f"trials/{item.number:04}"
        folder.mkdir(parents=True)
        (folder / "server.out").write_text("a" * 20_000)
    text = "".join(raw(trials, tmp_path))
    assert "[... 12,000 bytes left out" in text
    assert "[... 18,000 bytes left out" in text


HOSTILE = "<script>alert(1)</script>|`*[x](http://x)\x1b[31m"


def hostile() -> Summary:
    failure = Failure(stage="ask", message=HOSTILE, hint=HOSTILE, log=f"{HOSTILE}\n```\n# no")
    item = case(
        HOSTILE,
        line(HOSTILE, HOSTILE, 1, 2, 3, label=HOSTILE),
        line("errors", "1", 1, 2, 3, label=HOSTILE),
        line("p", "s", 0, 0, 0, text=HOSTILE),
        vary={HOSTILE: HOSTILE},
        failed=[FailedTrial(trial=9, block=1, attempt=1, failure=failure)],
        notes=[HOSTILE],
    )
    named = item.model_copy(update={"case": item.case.model_copy(update={"scenario": HOSTILE})})
    full = result(named, title=HOSTILE)
    return full.model_copy(update={"name": HOSTILE, "versions": {HOSTILE: HOSTILE}})


def started(**changes: str | int | None) -> StartedProcess:
    fields: dict[str, Any] = {"label": "server", "stdout": "server.out", "stderr": "server.err"}
    fields |= {"argv": ("python", "-c", "print('hello')"), "environment": {"A": "b c"}}
    return StartedProcess(**fields | {"exit_code": 0} | changes)


class Seen(HTMLParser):
    """What a browser would find: whether tags close, which there are, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.tags, self.words = list[str](), list[str](), list[str]()
        self.attributes, self.links = set[str](), set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += [tag] * (tag not in {"meta", "br", "link"})
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links.update(value for name, value in attrs if name == "href" and value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def seen(summary: Summary, folder: Path, *trials: Trial) -> Seen:
    (report,) = Html().report(summary, trials, folder)
    parser = Seen()
    parser.feed(report.read_text(encoding="utf-8"))
    parser.close()
    assert parser.open == []
    return parser


def test_the_page_loads_nothing_and_runs_nothing_whatever_a_suite_is_called(tmp_path: Path) -> None:
    page = seen(hostile(), tmp_path, trial(1, started(label=HOSTILE)))
    assert page.tags.count("script") == page.tags.count("style") == page.tags.count("link") == 1
    assert set(page.tags).isdisjoint({"img", "iframe", "object", "form", "base"})
    assert page.attributes.isdisjoint({"src", "srcset", "action", "onload", "onerror", "style"})
    assert all(re.fullmatch(r"#[\w-]+|data:,|[\w./-]+", link) for link in page.links), page.links
    assert any("<script>alert(1)</script>" in word for word in page.words)
    assert "\x1b" not in "".join(page.words)


def test_no_form_passes_on_control_characters(tmp_path: Path) -> None:
    full = hostile()
    assert "\x1b" not in Terminal().text(full, ())
    for file in Markdown().report(full, (trial(1, started(label=HOSTILE)),), tmp_path):
        text = file.read_text()
        assert "\x1b" not in text
        outside_of_code = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", text)
        assert "<script" not in outside_of_code.replace("\\<", "")


def test_raw_tells_each_command_and_what_it_printed(tmp_path: Path) -> None:
    folder = tmp_path / "trials/0001"
    folder.mkdir(parents=True)
    (folder / "server.out").write_text("ready\n```\n# not a heading\n")
    (folder / "server.err").write_bytes(b"a" * 5000 + b"\xff" * 5000 + b"b" * 5000)
    text = "".join(raw((trial(1, started(exit_code=-9)),), tmp_path))
    assert "### server: ended by signal 9\n" in text
    assert "```sh\nA='b c' python -c 'print('\"'\"'hello'\"'\"')'\n```\n" in text
    assert "````\nready\n```\n# not a heading\n````\n" in text
    assert "[... 7,000 bytes left out: all of it is in server.err ...]" in text
    assert text.count("a" * 4000) == text.count("b" * 4000) == 1


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "link", "", ".", "a\0b", "x" * 5000])
def test_raw_reads_nothing_outside_of_the_trial(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "trials/0001"
    folder.mkdir(parents=True)
    (tmp_path / "trials/secret").write_text("SECRET root:")
    (folder / "link").symlink_to(tmp_path / "trials/secret")
    process = started(exit_code=None)
    object.__setattr__(process, "stdout", name)  # the model refuses most of these names
    text = "".join(raw((trial(1, process),), tmp_path))
    assert "SECRET" not in text
    assert "root:" not in text
    assert "### server: ran until it was stopped" in text
    assert "the file is not there" in text


@given(st.text(st.sampled_from("`~\n a#"), max_size=30))
def test_no_text_ends_its_fence(text: str) -> None:
    first, *inner, last, end = safe.fenced(text).split("\n")
    assert (first, end) == (last, "")
    assert all(set(item.strip()) != {"`"} or len(item.strip()) < len(last) for item in inner)


finite = st.floats(allow_nan=False, allow_infinity=False)
units = st.sampled_from(["s", "us", "B", "B/s", "1/s", "1", "apples"])


@given(units, st.lists(finite, min_size=1))
def test_a_larger_value_never_reads_as_a_smaller_one(unit: str, values: list[float]) -> None:
    item = scale(unit, values)
    texts = [item.text(value) for value in sorted(values)]
    read = [Decimal(text.replace(",", "")) for text in texts]
    assert all(number.is_finite() for number in read)
    assert read == sorted(read)


@given(units, finite)
def test_a_value_reads_as_itself_to_three_digits(unit: str, value: float) -> None:
    item = scale(unit, [value])
    read = Decimal(item.text(value).replace(",", "")) * item.size
    assert abs(read - Decimal(value)) <= abs(Decimal(value)) * Decimal("0.0051")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="no value that was measured"):
        Scale("s").text(value)


def test_rich_is_imported_only_to_draw() -> None:
    program = "import sys, benchforge_reporters.terminal.report; print('rich' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stdout == b"False\n"
