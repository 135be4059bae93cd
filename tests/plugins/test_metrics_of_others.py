"""Metrics of other people's plugins: what they measure decides how they are read, no name does."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchforge_metrics.errors import ErrorRate, Errors
from benchforge_metrics.latency import Latency
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.terminal.report import Terminal
from front_door import Bench, answering
from made.summaries import case, check, claim, summary
from suite_texts.files import suite_text
from third_party import Installs

from benchforge.model.suite.search import RateSearch
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.summary.summary import CaseSummary, Summary
from benchforge.plugin import Metric, Reporter
from benchforge.stats.verdict.judge import judge
from benchforge.suite.scenarios.search import find_of
from benchforge.suite.suite import Scenario

METRIC = '''
from benchforge.plugin import Metric, Sample


class Refusals(Metric):
    """Seven of each load."""

    name = "refusals"
    measurand = "failed requests"
    unit = "1"
    better = "lower"

    def of_trial(self, trial, label, window):
        yield Sample(metric=label, unit="1", value=7, failed=7, requests=700)
        yield Sample(metric=label, unit="1", value=7, of="tired")
        yield Sample(metric=label, unit="1", value=0, of="shy")
'''
CLAIM = 'claims.few = { scenario = "s", metric = "bad", a = { server = "one" }, holds = "a < 5" }'


class Refusals(Errors):
    name = "refusals"


class RefusalRate(ErrorRate):
    name = "refusal_rate"


class Delays(Latency):
    name = "delays"


PAIRS = [(Errors, Refusals), (ErrorRate, RefusalRate), (Latency, Delays)]


@pytest.fixture
def suite(installs: Installs, tmp_path: Path) -> Path:
    installs(
        "their-metrics", {"metric-refusals": "their_metric:Refusals"}, {"their_metric.py": METRIC}
    )
    path = tmp_path / "suite.toml"
    path.write_text(suite_text("plugins/metrics_of_others", server=answering()))
    return path


def test_their_errors_are_in_one_cell(bench: Bench, suite: Path, tmp_path: Path) -> None:
    result = bench("run", suite, "--profile", "smoke", code=0).result
    lines = json.loads((result / "summary.json").read_text())["cases"][0]["metrics"]
    assert {line["measurand"] for line in lines if line["metric"] == "bad"} == {"failed requests"}
    page = (result / "report.html").read_text()
    assert '<td class="number loud"><span>7</span><br><span>tired 7</span></td>' in page
    assert "shy" not in page  # classes that never occurred are one zero
    bench("verify", result, code=0)


def test_their_number_of_errors_is_no_claim_by_itself(bench: Bench, suite: Path) -> None:
    suite.write_text(suite.read_text().replace("benchforge = 1\n", f"benchforge = 1\n{CLAIM}\n"))
    refused = bench("check", suite, code=2).err
    assert "the number of errors depends on the number of requests" in refused


def test_a_measurand_that_is_none_is_named(bench: Bench, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "site/their_metric.py").write_text(METRIC.replace('"failed requests"', '"errors"'))
    checked = bench("check", suite, code=2)
    assert "Refusals: measurand 'errors' is none of: responses per second," in checked.err


def shown(use: type[Metric]) -> Summary:
    text = "p99" if issubclass(use, Latency) else None
    values = {"a": [0.0, 3.0, 1.0], "b": [0.0, 0.0, 0.0]}
    return summary(*(measured(use, side, *values[side], label=text) for side in "ab"))


def measured(
    use: type[Metric], side: str, *values: float, label: str | None = None, **more: Any
) -> CaseSummary:
    made = case(side, values, metric="bad", unit="1", use=use.name, label=label, **more)
    fields = {"measurand": use.measurand, "percentile": use.percentile_of(label)}
    lines = tuple(line.model_copy(update=fields) for line in made.metrics)
    return made.model_copy(update={"metrics": lines})


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("reporter", [Html(), Markdown(), Terminal()])
def test_reports_show_theirs_as_ours(
    pair: tuple[type[Metric], type[Metric]], reporter: Reporter, tmp_path: Path
) -> None:
    texts = []
    for use in pair:
        files = reporter.report(shown(use), [], tmp_path)
        text = reporter.text(shown(use), [], 100, colour=True)
        texts.append([text, *(file.read_text() for file in files)])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("pair", PAIRS[:2])
def test_disturbed_trials_have_no_failures(pair: tuple[type[Metric], type[Metric]]) -> None:
    fromkeys = dict.fromkeys(range(1, 9), 0.5)
    summaries = (
        summary(*(measured(use, side, *[0.1] * 8, disturbed=fromkeys) for side in "ab"))
        for use in pair
    )
    verdicts = [judge(made, [claim("a > b", metric="bad", unit="1")]) for made in summaries]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0][0].state == "invalid"


def test_checks_of_response_times_speak_of_theirs() -> None:
    late = check("E2", "apparatus", invalidates="latency")
    for subject, doubted in (("p99", True), ("p50", False), ("mean", True)):
        (line,) = measured(Delays, "a", 1.0, label=subject).metrics
        assert speaks_of(late, line) is doubted


@pytest.mark.parametrize("use", [RefusalRate, ErrorRate, Delays])
def test_a_search_has_no_bound_of_errors_beside_an_objective_about_them(use: type[Metric]) -> None:
    bound = "bad p99 < 1s" if use is Delays else "bad < 0.2"
    written = {"request": {"path": "/"}, "servers": ["a"], "find": {"rate": [1, 10], "slo": bound}}
    find = find_of(Scenario.model_validate(written), {}, {"bad": use()})
    assert isinstance(find, RateSearch)
    assert (find.errors_below is None) == (use is not Delays)
