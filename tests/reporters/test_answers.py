"""Answers: a winner only where all differ from it, and what is ruled out where none does."""

import re
from functools import partial

import pytest
from benchforge_reporters.document.answers import ComparisonAnswer, answers, scatter
from benchforge_reporters.document.causes import CauseTexts
from benchforge_reporters.text.words import alarms, amount
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st
from made import plain, summaries
from made.shown import line
from present import present

from benchforge.checks.limits import limits
from benchforge.checks.summary import with_comparison_verdicts
from benchforge.model.suite.search import SearchTrial
from benchforge.model.summary.capacity import Capacity
from benchforge.model.summary.cause import Cause, FoldedFinding
from benchforge.model.summary.ranking import MetricRanking, Pair, RankedServer, Ranking
from benchforge.model.summary.summary import CaseSummary, Summary
from benchforge.model.summary.verdict import Estimate, StopDecision
from benchforge.model.trial.check import Check, Status, Topic
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.trial import Failure
from benchforge.stats.inference.holm import ranking as ranked

NAMES = ("aiohttp", "django", "flask", "tornado")


def estimate(value: float, low: float | None, high: float | None) -> Estimate:
    reason = "" if low is not None else "too few blocks"
    fields = {"method": "paired t of log-ratios", "level": 0.95, "n": 8, "why": reason}
    return Estimate.model_validate({**fields, "value": value, "low": low, "high": high})


def pair(first: str, second: str, ratio: Estimate, *, differ: bool) -> Pair:
    fields = {"first": first, "second": second, "ratio": ratio, "simultaneous": ratio}
    return Pair.model_validate({**fields, "p_holm": 0.1, "differ": differ})


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    """Return a ranking of two to four servers whose pairs differ as may be."""
    names = NAMES[: draw(st.integers(2, 4))]
    pairs = []
    for path, first in enumerate(names):
        for second in names[path + 1 :]:
            value = draw(st.floats(1.0, 20.0))
            ratio = estimate(value, None, None)
            measured = draw(st.booleans()) or draw(st.booleans())
            if measured:
                ratio = estimate(value, value / draw(st.floats(1, 3)), value * 1.5)
            differ = measured and draw(st.booleans())
            pairs.append(pair(first, second, ratio, differ=differ))
    return ranking_of([(name, "a") for name in names], pairs)


def ranking_of(letters: list[tuple[str, str]], pairs: list[Pair]) -> Ranking:
    order = tuple(
        RankedServer(server=name, value=estimate(100, 90, 110), letters=letter, best=1, worst=2)
        for name, letter in letters
    )
    return Ranking(level=0.95, better="higher", order=order, pairs=tuple(pairs))


def summary(ranking: Ranking | None, *checks: Check, text: str = "") -> Summary:
    names = [item.server for item in ranking.order] if ranking else list(NAMES[:2])
    rate = line("throughput", "requests/s", 90.0, 100.0, 110.0)
    rate = rate.model_copy(update={"measurand": "responses per second"})
    cases = [plain.case(summaries.name(name), rate) for name in names]
    fields = {"metric": "throughput", "of": None, "unit": "requests/s", "blocks": 8, "target": 0.03}
    ranked = MetricRanking.model_validate({**fields, "ranking": ranking, "why": text})
    compared = summaries.comparison(checks, *names).model_copy(update={"rankings": (ranked,)})
    return plain.summary(*cases, comparisons=(compared,))


def answer(ranking: Ranking | None, *checks: Check, text: str = "") -> ComparisonAnswer:
    made = summary(ranking, *checks, text=text)
    (only,) = answers(with_comparison_verdicts(made, limits()), ())
    return only


@given(rankings())
def test_a_winner_differs_from_all_others_and_else_a_size_is_ruled_out(ranking: Ranking) -> None:
    first = ranking.order[0].server
    differs = {pair.second: pair.differ for pair in ranking.pairs if pair.first == first}
    options = answer(ranking)
    texts = (options.headline, *options.sentences)
    if all(differs.values()):
        assert options.state == "differs"
        assert options.headline.startswith(f"{first} serves ")
    else:
        assert options.state in {"same", "undecided"}
        verb = "No difference seen" if options.state == "same" else "Undecided"
        named = present(re.match(rf"{verb} between (.*): ", options.headline))
        assert all((server in named[1]) != differ for server, differ in differs.items())
    for text in texts:
        if "No difference seen" in text:
            share = present(re.search(r"any difference is below ([0-9.]+) %", text))
            assert float(share[1]) <= 10
        if "Undecided" in text:
            possible = r"by up to ([0-9.,]+ %|[0-9.,]+×)|no difference is ruled out"
            assert re.search(possible, text)


SAMPLES = st.lists(
    st.lists(st.none() | st.floats(50, 200), min_size=3, max_size=3), min_size=4, max_size=8
)
"Values of three servers in each block, with holes where trials do not count."


@given(SAMPLES)
@example([[100, 90, None], [100, 110, None], [100, 110, None], [None, 80, 70], [None, 81, 70]])
def test_nothing_comes_before_what_beats_it_although_blocks_are_missing(
    blocks: list[list[float | None]],
) -> None:
    sides = {
        name: {(n, False): row[index] or 0.0 for n, row in enumerate(blocks) if row[index]}
        for index, name in enumerate(NAMES[:3])
    }
    assume(all(len(values) > 1 for values in sides.values()))
    try:
        made = ranked(sides)
    except ValueError:  # a pair has no block in common
        reject()
    options = answer(made)
    assert options.state in {"differs", "same", "undecided"}
    beaten = {pair.second for pair in made.pairs if pair.differ}
    named = re.match(r"(\w+) serves ", options.headline)
    assert named is None or named[1] not in beaten or beaten == set(sides)
    for pair in made.pairs:
        again = made.pair(pair.second, pair.first)
        assert (again.first, again.differ) == (pair.second, pair.differ)
        assert (again.ratio.value or 1) * (pair.ratio.value or 1) == pytest.approx(1)
        assert made.pair(pair.first, pair.second) == pair


def check(status: str, topic: str) -> Check:
    fields = {"id": "K1", "scope": "comparison", "subject": "behaviour"}
    message = "connections were kept by aiohttp, and closed by flask: set the server"
    return Check.model_validate({**fields, "status": status, "topic": topic, "message": message})


def cause(finding: FoldedFinding, audience: str, *, dealt: bool = False) -> Cause:
    fields = {"id": finding.check.id, "audience": audience, "count": 1, "findings": (finding,)}
    return Cause.model_validate({**fields, "state": "dealt with" if dealt else "open"})


def doubt(id_: str, message: str) -> Check:
    fields = {"scope": "trial", "subject": "apparatus", "status": "warn", "message": message}
    return Check.model_validate({"id": id_, **fields})


def apart() -> Ranking:
    ahead = pair("aiohttp", "flask", estimate(4.9, 4.02, 5.9), differ=True)
    return ranking_of([("aiohttp", "a"), ("flask", "b")], [ahead])


def test_sides_that_are_not_alike_are_named_instead_of_a_winner_alone() -> None:
    for status, topic in (("warn", "alike"), ("fail", "alike"), ("fail", "")):
        options = answer(apart(), check(status, topic))
        assert options.state == "not comparable"
        assert options.headline == (
            "Not comparable: connections were kept by aiohttp, and closed by flask (K1)"
        )
        assert options.sentences[0].startswith("Do not quote this: aiohttp serves 4.9× as many")
    for status, topic in (
        ("warn", ""),
        ("unknown", "alike"),
        ("fail", "blocks"),
        ("pass", "alike"),
    ):
        assert answer(apart(), check(status, topic)).state == "differs"


def test_without_a_ranking_the_reason_is_the_answer() -> None:
    options = answer(None, text="2 blocks tell no difference from noise: it takes 3")
    assert options.state == "undecided"
    assert options.headline == "No answer: 2 blocks tell no difference from noise: it takes 3"


def test_more_blocks_are_no_remedy_where_all_trials_of_a_server_failed() -> None:
    check = doubt("S3", "too few blocks").model_copy(update={"topic": "blocks"})
    finding = FoldedFinding(check=check, count=1, scenario="hello")
    failure = Failure(stage="start", message="it ended")
    good = summaries.case("good", [1.0, 2.0])
    dead = summaries.case("dead", [None], failed={1: failure})
    for cases, remedy in (
        ([good], "benchforge run SUITE --set scenarios.hello.blocks=10 --only hello"),
        ([dead], "correct what made all trials of dead fail: report.md has the reasons"),
        (
            [good, dead],
            """or leave it out: benchforge run SUITE --set 'scenarios.hello.servers=["good"]'""",
        ),
    ):
        summary = plain.summary(*cases, causes=(cause(finding, "invalid"),))
        assert remedy in CauseTexts(summary, ()).shown[0].remedy


@given(
    st.lists(
        st.tuples(st.sampled_from(["invalid", "limits", "setup", "expert"]), st.booleans()),
        max_size=12,
    ),
    st.text(max_size=200),
)
def test_at_most_five_causes_are_shown_but_each_that_is_invalid(
    kinds: list[tuple[str, bool]], message: str
) -> None:
    causes = tuple(
        cause(FoldedFinding(check=doubt(f"X{number}", message), count=1), kind, dealt=dealt)
        for number, (kind, dealt) in enumerate(kinds)
    )
    texts = CauseTexts(plain.summary(causes=causes), ())
    assert len(texts.all) == len(causes)
    assert {item.id for item in texts.all} == {item.id for item in causes}
    invalid = {item.id for item in causes if (item.audience, item.state) == ("invalid", "open")}
    assert invalid <= {item.id for item in texts.shown}
    assert len(texts.shown) <= max(5, len(invalid))
    assert all(len(item.brief) <= 72 for item in texts.all)


NO_RATE = {"method": "t of logs", "level": 0.95, "n": 0, "why": "no trial"}


def sought(server: str, rate: float, low: float, high: float) -> CaseSummary:
    estimate = Estimate(method="t of logs", level=0.95, n=5, value=rate, low=low, high=high)
    capacity = Capacity(rate=estimate, safe=None, width=None, phase="done")
    return summaries.case(server, [1.0], capacity=capacity)


@pytest.mark.parametrize(
    ("high", "state", "words"),
    [
        (4100.0, "differs", "4,100, 95 %)"),
        (5100.0, "undecided", "the intervals have rates in common"),
    ],
)
def test_a_search_is_answered_by_the_rates_that_it_found(
    high: float, state: str, words: str
) -> None:
    cases = [sought("slow", 4000.0, 3900.0, high), sought("fast", 5000.0, 4900.0, 5200.0)]
    summary = summaries.summary(*cases, comparisons=(summaries.comparison([], "slow", "fast"),))
    (answer,) = answers(with_comparison_verdicts(summary, limits()), [])
    assert answer.state == state
    assert answer.headline.startswith("Highest rate that keeps all objectives: fast 5,000")
    assert words in answer.headline


def test_a_search_of_one_server_names_the_rate_to_plan_with() -> None:
    case = sought("only", 4000.0, 3900.0, 4100.0)
    safe = case.capacity and case.capacity.model_copy(update={"safe": 3712.0})
    alone = case.model_copy(update={"capacity": safe})
    compared = summaries.comparison([], "only")
    (answer,) = answers(summaries.summary(alone, comparisons=(compared,)), [])
    assert answer.headline.endswith("4,000 requests/s (3,900 to 4,100, 95 %; plan with 3,712)")


@pytest.mark.parametrize(
    ("status", "topic", "trials", "kind"),
    [
        ("warn", "samples", (1,), "expert"),
        ("warn", "", (2,), "expert"),
        ("fail", "", (2,), "expert"),
        ("warn", "", (1, 2), "limits"),
        ("warn", "", (), "limits"),
        ("fail", "samples", (1,), "limits"),
        ("fail", "lateness", (1,), "expert"),
        ("fail", "lateness", (1, 2), "expert"),
        ("fail", "others", (1,), "expert"),
        ("fail", "", (3,), "expert"),
    ],
)
def test_what_overload_shows_is_no_finding_of_a_search(
    status: Status, topic: Topic, trials: tuple[int, ...], kind: str
) -> None:
    case = sought("only", 4000.0, 3900.0, 4100.0)
    attempts = [
        SearchTrial(trial=number, round=number, rate=4000.0, passed=number == 1)
        for number in (1, 2)
    ]
    tried = case.capacity and case.capacity.model_copy(update={"attempts": tuple(attempts)})
    case = case.model_copy(update={"capacity": tried})
    check = doubt("X1", "seen").model_copy(update={"status": status, "topic": topic})
    finding = FoldedFinding(check=check, scenario=case.case.scenario, trials=trials, count=1)
    limiting = (cause(finding, "limits"),)
    (text,) = CauseTexts(summaries.summary(case, causes=limiting), ()).all
    assert text.kind == kind
    # Of a search without an answer, each is a reason.
    ended = Capacity(rate=Estimate.model_validate(NO_RATE), safe=None, width=None)
    case = case.model_copy(update={"capacity": ended})
    (text,) = CauseTexts(summaries.summary(case, causes=limiting), ()).all
    assert text.kind == "limits"


def test_in_turns_the_scatter_of_the_ratio_is_the_reason() -> None:
    rates = {"a": (100.0, 200.0, 400.0), "b": (50.0, 100.0, 160.0)}
    cases = []
    for name, values in rates.items():
        sample = partial(Sample, metric="throughput", unit="requests/s")
        subject = {block: sample(value=value) for block, value in enumerate(values, 1)}
        rate = line("throughput", "requests/s", 50.0, 100.0, 400.0)
        rate = rate.model_copy(update={"samples": plain.samples(subject)})
        cases.append(plain.case(plain.named(name), rate, in_turns=True))
    fields = {"metric": "throughput", "of": None, "unit": "requests/s", "blocks": 3, "target": 0.03}
    ranking = MetricRanking.model_validate({**fields, "ranking": None, "why": "made"})
    (reason,) = scatter(cases, ranking, "server")
    assert reason == "Why: from block to block the ratio differs by up to 25 %; there are 3 blocks."


@pytest.mark.parametrize(
    ("name", "blocks", "calm"), [("duel", 18, 1), ("duel", 4, 1), ("duel", 3, 0), ("a", 18, 0)]
)
def test_a_duel_that_ended_at_its_time_is_no_alarm(name: str, blocks: int, calm: int) -> None:
    decision = StopDecision(blocks=blocks, stop=False, half_width=0.07, why="an interval is wide")
    subject = {"name": name, "complete": False, "stop_decision": decision}
    made = plain.summary(plain.case(plain.named())).model_copy(update=subject)
    assert any("NOT COMPLETE" in alarm for alarm in alarms(made)) != bool(calm)
    assert amount(made).startswith(f"the run ended after {blocks} blocks: an") == bool(calm)
