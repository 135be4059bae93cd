"""Results of versions that wrote no topics and no measurands: they say what they said then."""

import json
from pathlib import Path
from typing import Any

import made_result
import pytest
import summaries
from front_door import Bench
from small_results import measured

from benchforge.checks.limits import limits
from benchforge.checks.older_fields import completed
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.trial.check import Check, Topic
from benchforge.registry import Registry

NEW = {"topic", "measurand", "percentile"}


def older(value: Any) -> Any:
    """Return a document without the fields that are new."""
    if isinstance(value, dict):
        return {name: older(inner) for name, inner in value.items() if name not in NEW}
    return [older(inner) for inner in value] if isinstance(value, list) else value


def bare(id_: str, component: str = "") -> Check:
    return Check(
        id=id_,
        scope="trial",
        subject="apparatus",
        status="fail",
        value=0.4,
        message="-",
        component=component,
        transient=True,
    )


@pytest.mark.parametrize(
    ("id_", "component", "topic"),
    [
        ("N1", "", "others"),
        ("N2", "flask", "waiting"),
        ("N3", "cpu", "waiting"),
        ("N3", "io", "stall"),
        ("L4", "lateness", "lateness"),
        ("L4", "rate", ""),
        ("S3", "", "blocks"),
        ("quiet", "", "quiet"),
        ("M1", "", ""),
        ("Z9", "", ""),
    ],
)
def test_a_check_has_the_topic_that_its_limit_declares(
    id_: str, component: str, topic: Topic
) -> None:
    assert completed(bare(id_, component)).topic == topic


def test_each_check_that_is_made_has_the_topic_that_an_older_one_is_given() -> None:
    for id_ in limits().by_id:
        component = id_.partition(".")[2]
        check = limits().check(id_, "apparatus", None, "-", component=component)
        assert completed(check.model_copy(update={"topic": ""})) == check


def test_a_trial_that_noise_spoilt_is_disturbed_as_it_was() -> None:
    trial = made_result.trial(1, 1, 1, made_result.case("a"), 1.0, checks=[bare("N1"), bare("P2")])
    assert not trial.disturbed
    assert completed(trial).disturbed
    assert completed(trial).noisy


def test_metrics_of_a_summary_have_what_their_part_measures() -> None:
    case = summaries.case("a", [1.0], use="latency", of="p99", unit="s")
    bare_case = case.model_copy(
        update={
            "metrics": tuple(
                line.model_copy(update={"measurand": "", "percentile": None})
                for line in case.metrics
            )
        }
    )
    summary = completed(summaries.summary(bare_case), Registry())
    assert summary.cases == (case,)
    late = completed(bare("E2").model_copy(update={"invalidates": "latency"}))
    assert speaks_of(late, summary.cases[0].metrics[0])


def test_an_older_result_is_whole(bench: Bench, tmp_path: Path) -> None:
    result = measured(bench, tmp_path)
    for file in (result / "summary.json", *result.glob("trials/*/trial.json")):
        text = file.read_text()
        assert any(f'"{name}"' in text for name in NEW)
        file.write_text(json.dumps(older(json.loads(text))))
    for command in ("verify", "validate", "report"):
        told = bench(command, result)
        assert told.code == 0, told.all
    assert '"measurand"' in (result / "summary.json").read_text()
