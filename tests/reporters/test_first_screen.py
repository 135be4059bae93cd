"""The first screen of results of real runs: each state of the verdict, to the byte."""

import math
import re
from dataclasses import replace

import pytest
from benchforge_reporters.terminal.first_screen import FEW_LINES, MOST_LINES, WIDTH, FirstScreen
from hypothesis import given
from hypothesis import strategies as st
from present import present
from screens import compared, recorded

from benchforge.checks.limits import limits
from benchforge.checks.sizes import unlimited
from benchforge.checks.summary import with_comparison_verdicts
from benchforge.model.summary.latency import LatencyAtRate, ServerLatency
from benchforge.model.summary.verdict import Estimate
from benchforge.report.answer.headline import headline
from benchforge.report.answer.ratio import RatioAxis, ratio_texts

FIRST = {
    "faster": r"waitress-serve serves 1\.\d+× as many requests per second as gunicorn",
    "undecided": r"Undecided: \S+ and \S+ differ by at most \d+ %",
    "same": r"warning and info differ by less than \d+(\.\d)? %",
    "unlike": "Not comparable: waitress-serve and gunicorn did different work",
    "broken": "No answer: gunicorn answered wrongly, so its speed says nothing",
    "start": "No answer: gunicorn did not start",
    "disturbed": r"\[pool\] aiohttp serves 1\.5× as many requests .* as flask, the runner-up",
}


@pytest.mark.parametrize("name", FIRST)
def test_the_answer_is_the_first_line_and_all_fits_a_screen(name: str) -> None:
    summary, trials = recorded(name)
    text = FirstScreen().text(summary, trials, 200)
    compared(f"screen-{name}.txt", text)
    lines = text.splitlines()
    assert re.match(FIRST[name], lines[0])
    assert len(lines) <= (FEW_LINES if len(summary.comparisons) == 1 else MOST_LINES)
    assert all(len(line) <= WIDTH or line.startswith("  benchforge run ") for line in lines)
    assert sum(line.startswith("May I quote it?") for line in lines) == 1
    assert any(re.match(r"(AMD EPYC|Intel.*), 2 CPUs, virtual · ", line) for line in lines)
    coloured = FirstScreen().text(summary, trials, 80, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text
    heads = [headline(comparison, summary) for comparison in summary.comparisons]
    for head, comparison in zip(heads, summary.comparisons, strict=True):
        if present(comparison.verdict).state in {"broken", "not comparable"}:
            assert head.ratio is None
            assert "Ratio: yes" not in text
        if head.margin is not None:
            assert 0 < head.margin < 1


def test_long_names_leave_the_words_below_the_axis_apart() -> None:
    summary, trials = recorded("same")
    text = summary.model_dump_json()
    for name, long in (
        ("info", "flask_hello-application"),
        ("warning", "django_hello-application"),
    ):
        text = text.replace(f'"{name}"', f'"{long}"')
    screen = FirstScreen().text(type(summary).model_validate_json(text), trials)
    (below,) = [line for line in screen.splitlines() if "faster " in line and "± " not in line]
    assert re.search(r"faster +±5 %(: too small)? +django_…ication faster", below)


def test_p50_and_p99_at_one_rate_have_rows_and_all_still_fits() -> None:
    summary, trials = recorded("faster")
    seconds = {"waitress-serve": (190e-6, 740e-6), "gunicorn": (270e-6, 1.92e-3)}
    servers = tuple(
        ServerLatency(server=name, responses=5000, median=times(median), tail=times(tail))
        for name, (median, tail) in seconds.items()
    )
    latency = LatencyAtRate(scenario="duel-latency", rate=1500, servers=servers)
    (comparison,) = summary.comparisons
    unknown = latency.model_copy(update={"servers": (), "why": "the machine was loud"})
    for shown, says in ((latency, "p99"), (unknown, "unknown")):
        changed = comparison.model_copy(update={"latency": shown})
        text = FirstScreen().text(summary.model_copy(update={"comparisons": (changed,)}), trials)
        assert len(text.splitlines()) <= FEW_LINES
        assert ("Latency at 1,500 requests/s each" in text) == (says == "p99")
        assert ("190 µs (180–200)" in text) == (says == "p99")
        assert ("Latency          unknown: " in text) == (says == "unknown")
        assert ("Latency: yes" in text) == (says == "p99")


def times(value: float) -> Estimate:
    ends = {"low": value * 0.95, "high": value * 1.05}
    fields = {"method": "t of logs", "level": 0.95, "n": 4, "value": value}
    return Estimate.model_validate(fields | ends)


RATIOS = st.floats(0.01, 100)


@given(st.tuples(RATIOS, RATIOS, RATIOS).map(sorted))
def test_a_ratio_that_differs_from_one_never_reads_as_one(ratios: list[float]) -> None:
    low, value, high = ratios
    for number, text in zip((value, low, high), ratio_texts((value, low, high)), strict=True):
        shown = float(text.replace(",", ""))
        assert shown == pytest.approx(number, rel=0.1) or abs(shown - number) <= (high - low) / 4
        if abs(math.log(number)) > 0.001:
            assert (shown > 1) == (number > 1)


@given(st.tuples(RATIOS, RATIOS, RATIOS).map(sorted), st.integers(11, 90))
def test_an_axis_has_one_in_its_middle_and_what_is_more_on_the_right(
    ratios: list[float], half: int
) -> None:
    low, value, high = ratios
    line = RatioAxis.holding(ratios).line((value, low, high), 2 * half + 1)
    assert len(line) == 2 * half + 1
    position = line.index("●")
    assert line[half] in "┃●"
    assert (position > half) <= (value > 1)
    assert (position < half) <= (value < 1)
    for end, sign in ((low, "├"), (high, "┤")):
        if sign in line:
            assert (line.index(sign) > position) == (end > value)


@given(st.floats(0.01, 0.95), st.integers(1, 200))
def test_a_tool_that_is_less_busy_or_has_more_requests_under_way_limits_less(
    share: float, connections: int
) -> None:
    factor = unlimited(share, connections)
    assert 1 <= unlimited(share / 2, connections) <= factor + 1e-9
    assert unlimited(share, connections + 1) <= factor + 1e-9
    assert unlimited(share, 1) == pytest.approx(min(17.0, 1 / (1 - share)), rel=1e-6)


@pytest.mark.parametrize(
    ("share", "crowded"),
    [
        (0.01, ""),
        (0.2, "other programs used 20 % of the CPUs"),
        (None, "what other programs used of the CPUs is not known"),
    ],
)
def test_nobody_may_quote_a_ratio_of_a_machine_that_others_used(
    share: float | None, crowded: str
) -> None:
    summary, trials = recorded("faster")
    busy = []
    for trial in trials:
        turns = present(trial.turns)
        used = None if share is None else share * turns.cpus
        slices = [
            replace(each, foreign_cpu_s=None if used is None else used * each.seconds)
            for each in turns.slices
        ]
        busy.append(trial.like(turns=turns.like(slices=tuple(slices))))
    busier = with_comparison_verdicts(summary, limits(), busy)
    verdict = present(busier.comparisons[0].verdict)
    assert (verdict.state, verdict.crowded) == ("decided", crowded)
    text = FirstScreen().text(busier, busy)
    assert ("May I quote it?  Ratio: yes" in text) == verdict.ratio == (not crowded)
    assert (f"May I quote it?  No: {crowded}." in text) == bool(crowded)
    measured = crowded.startswith("other")
    head = headline(busier.comparisons[0], busier)
    assert head.sentence.endswith(f", while {crowded}") == measured
    assert ("Next             Stop other programs, and measure again." in text) == measured
