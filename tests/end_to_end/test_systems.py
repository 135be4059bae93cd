"""Each server with each app that it speaks, for real: a right answer, a second of load, the end."""

from pathlib import Path
from typing import Any

import pytest
from benchforge_servers.python.app import PROTOCOLS, app_of, built_in
from front_door import Bench, bench, needed

from benchforge.model.trial.trial import Trial
from benchforge.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load

__all__ = ["bench"]

MISSING = 3
SUITE = Path(__file__).parents[2] / "suites/systems.toml"
LABELS = list(load(SUITE, Registry()).scenarios)


def cases() -> list[Any]:
    return list(expand(load(SUITE, Registry())))


def test_the_suite_names_every_server_and_every_built_in_app() -> None:
    every = cases()
    parts = [part for case in every for part in (case.server, *(one for _, one in case.upstreams))]
    # These two are whatever a person makes of them: test_servers.py and test_run.py try them.
    assert set(Registry().names("server")) - {part.name for part in parts} == {"command", "url"}
    served = {app for part in parts if (app := getattr(part, "app", None))}
    assert set(built_in()) - served == set()
    assert {label for case in every for label, _ in case.backends} == {"agents", "foo", "graph"}


def test_the_suite_serves_each_app_by_every_server_that_speaks_it() -> None:
    pairs = {
        (case.server.name, app) for case in cases() if (app := getattr(case.server, "app", None))
    }
    for app in built_in():
        protocol = app_of(app).protocol
        assert protocol is not None
        served_by = {server for server, one in pairs if one == app}
        assert served_by == set(PROTOCOLS[protocol]), app


@pytest.mark.timeout(600)
@pytest.mark.parametrize("label", LABELS)
def test_all_answer_rightly_under_load_and_end(bench: Bench, tmp_path: Path, label: str) -> None:
    needed("wrk", "postgres", "redis-server", "nginx", "virtuoso-t", "pypy3", "openssl")
    told = bench("run", SUITE, "--only", label, "--json", within_s=600)
    if told.code == MISSING and "no interpreter '3." in told.err:
        pytest.skip(told.err)  # Debian has one CPython
    assert told.code == 0, told.all
    (folder,) = (tmp_path / "results").iterdir()
    trials = [
        Trial.model_validate_json(file.read_bytes()) for file in folder.glob("trials/*/trial.json")
    ]
    planned = [case for case in cases() if case.name.scenario == label]
    assert len(trials) == len(planned)
    for trial in trials:
        assert trial.failure is None, trial.case.title
        assert trial.reading is not None
        assert trial.reading.responses > 0
        assert [answer.status for answer in trial.answers] == [trial.answers[0].status] * 2
    assert bench("validate", folder).code == 0
