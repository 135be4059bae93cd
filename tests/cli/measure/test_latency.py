"""Response times at one rate: measured beside a comparison, in its result, and recomputed."""

from pathlib import Path

from front_door import Bench
from made import plain
from present import present
from suite_texts.files import suite_text

from benchforge.cli.measure.duel import suite as duel
from benchforge.cli.measure.duel.servers import contender, labelled
from benchforge.model.files.folder import read_header, read_summary, read_trials
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading, Schedule, Series
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Identity
from benchforge.parts.registry import Registry
from benchforge.stats.summary.latency import highest, latency_at_rate
from benchforge.suite.load import load

SUITE = suite_text("cli/measure/latency")


def test_two_servers_get_one_rate(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    call = bench("run", "suite.toml")
    (result,) = (tmp_path / "results").iterdir()
    summary = read_summary(result)
    (comparison,) = summary.comparisons
    assert comparison.scenario == "duel"
    latency = present(comparison.latency)
    assert (latency.scenario, latency.rate) == ("latency", 60)
    assert "Latency" in call.out
    assert read_header(result).latencies == {"latency": "duel"}
    of_rate = [trial for trial in read_trials(result) if trial.case.scenario == "latency"]
    # Whatever noise spoils, a place is measured once, in the first blocks alone.
    assert sorted((it.block, it.attempt) for it in of_rate) == [(n, 1) for n in (1, 1, 2, 2, 3, 3)]
    assert "0 contradicted" in bench("verify", result).out

    # As if a quiet machine had measured it: the numbers follow from the histograms alone.
    def bare(trial: Trial) -> Trial:
        reading = present(trial.reading).model_copy(update={"schedule": None})
        return trial.model_copy(update={"checks": (), "reading": reading})

    believed = [bare(trial) for trial in of_rate if trial.measured]
    by_case: dict[Identity, list[Trial]] = {}
    for name in ("quick", "slow"):
        by_case["latency", name, "", "", 1] = []
    for trial in believed:
        by_case["latency", trial.case.server, "", "", 1].append(trial)
    quiet = present(latency_at_rate(comparison, "latency", by_case))
    quick, slow = quiet.servers
    assert (quick.server, slow.server) == ("quick", "slow")
    assert present(slow.median.value) >= 0.02
    assert quick.median.n + slow.median.n == len(believed)
    counts = sum(present(present(it.reading).latency).count for it in believed)
    assert quick.responses + slow.responses == counts
    # p99 takes 1,000 responses of each: 72 carry p75 at most.
    assert quiet.tail in {50, 75}
    assert quiet.why.startswith("p99 takes 1,000 responses of each, and ")
    lost = believed[0].model_copy(update={"failure": None, "reading": None})
    by_case["latency", "slow", "", "", 1] = [lost]
    unknown = present(latency_at_rate(comparison, "latency", by_case))
    assert (unknown.servers, unknown.why) == ((), "no trial of slow counts")


def timed(late_us: int) -> Reading:
    """Return a reading of 500 times of 1 ms, all of whose requests were sent late by as much."""
    late = Histogram.of({late_us: 490, 1: 10}) if late_us else Histogram.of({0: 500})
    schedule = Schedule(rate=500, lateness=late)
    return plain.reading(500, latency=Histogram.of({1_000: 500}), schedule=schedule)


def test_a_percentile_is_of_blocks_whose_load_tool_was_on_time() -> None:
    assert highest({"a": [timed(0)] * 4, "b": [timed(0)] * 4}) == (99, "")
    assert highest({"a": [timed(0)] * 4, "b": [timed(0)] * 3 + [timed(500)]}) == (99, "")
    tail, reason = highest({"a": [timed(0)] * 4, "b": ([timed(0)] * 2 + [timed(500)] * 2)})
    assert (tail, reason) == (50, "with b, the load tool sent too late for it in 2 of 4 blocks")
    tail, reason = highest({"a": [timed(0)], "b": [timed(0)] * 4})
    assert (tail, reason) == (95, "p99 takes 1,000 responses of each, and a has 500")


def test_times_at_unlike_loads_are_told(bench: Bench, tmp_path: Path) -> None:
    first = SUITE.replace('metrics = ["throughput"]', 'metrics = ["latency"]')
    (tmp_path / "suite.toml").write_text(first)
    call = bench("check", "suite.toml", code=0)
    assert "duel: compares response times at unlike loads: with load each server" in call.out
    (tmp_path / "suite.toml").write_text(SUITE)
    assert "unlike loads" not in bench("check", "suite.toml", code=0).out


def test_a_duel_plans_half_of_what_the_slower_one_answered(tmp_path: Path) -> None:
    loads = {"a": duel.FirstLoad(4_321.0, warm=True), "b": duel.FirstLoad(1_234.0, warm=False)}
    plan = duel.latency_plan(loads, {"a": 0.2, "b": 0.3}, duel.Question(warm=True))
    assert not isinstance(plan, str)
    assert plan.rate == 620
    assert plan.blocks * 2 * (plan.load_s + 0.25) < 10
    servers = labelled([contender("serve {port}")] * 2, ["a", "b"])
    question = duel.Question(warm=True, wrk=True)
    tables = duel.tables_of(servers, question, tmp_path)
    designed = {**tables, **duel.with_latency(tables, plan), **duel.in_turns(tables, question, 100)}
    suite = load(tmp_path / "duel.toml", Registry(), text=duel.text(designed))
    assert suite.latencies == {"at-one-rate": "duel"}
    assert suite.loaders["at-rate"].part.name == "pace"
    assert (suite.repeat.warmup, suite.repeat.each) == (0.3, 1.0)
    # Connections of their own for all requests are what wrk cannot make.
    closing = duel.tables_of(servers, duel.Question(keep_alive=False, wrk=True), tmp_path)
    load(tmp_path / "duel.toml", Registry(), text=duel.text(closing))


def test_why_a_duel_has_no_latency() -> None:
    loads = {"a": duel.FirstLoad(4_321.0), "b": duel.FirstLoad()}
    starts_s = {"a": 0.2, "b": 0.3}
    assert duel.latency_plan(loads, starts_s, duel.Question()) == "the first load of b failed"
    assert "--time" in str(duel.latency_plan(loads, starts_s, duel.Question(time_s=10.0)))
    slow = duel.latency_plan({"a": duel.FirstLoad(9.0)}, {"a": 5.0}, duel.Question())
    assert slow == "the servers take 3.5 s to start and 1 s to warm up, which leaves no time for it"


def series(*completed: int) -> Reading:
    rates = Series(bin_s=0.1, completed=completed, errors=(0,) * len(completed))
    fields = {"responses": sum(completed), "latency": Histogram.of({}), "series": rates}
    return plain.reading(0, **fields)


def test_a_server_that_still_becomes_faster_is_not_warm() -> None:
    assert duel.is_warm(series(1, 9, 9, 9, 9, 9, 9, 9, 9, 9))
    assert not duel.is_warm(series(1, 2, 3, 4, 5, 6, 7, 8, 9, 9))
    assert not duel.is_warm(series(*[0] * 10))
    assert not duel.is_warm(series(9).model_copy(update={"series": None}))
