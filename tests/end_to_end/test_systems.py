"""Each server with each app that it speaks, for real: a right answer, a second of load, the end.

`make test` measures a cover: each server, backend and interpreter of the suite at least once, and
each app that the tests of tests/plugins/ do not have answer.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from benchforge_servers.python.app_server import PROTOCOLS, app_of, built_in
from front_door import Bench, bench, needed
from made import plain
from made.observed import LIMITS
from planted.honest import accusations
from present import present

from benchforge.model.files.folder import read_trials
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Server
from benchforge.parts.registry import Registry
from benchforge.suite.cases.case import Case
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load

__all__ = ["bench"]

MISSING = 3
AT_ONCE = 7
"Cases of the cover that one call of benchforge measures."
AGAIN = 4
"Repetitions of what raised a finding that has no reason: noise does not raise it each time."
SHORT = '{ use = "pace", connections = 8, duration = "200ms", think = "10ms" }'
"Load of the cover: a second of wrk takes all CPUs. A shorter one is not monitored."
IN_TURNS = 4
"Servers that take turns: more of them would each stand still for too long."
ONLY_HERE = {"agents_api_hour", "agents_api_hour_published", "six_asgi", "six_wsgi"}
"Apps that no other test of `make test` has answer."
SUITE = Path(__file__).parents[2] / "suites/systems.toml"
SYSTEMS = load(SUITE, Registry())
CASES = list(expand(SYSTEMS))
LABELS = list(dict.fromkeys(case.name.scenario for case in CASES))


def servers_of(case: Case) -> list[Server]:
    return [case.server, *(upstream for _, upstream in case.upstreams)]


def shown_by(case: Case) -> set[tuple[str, str]]:
    """Return what a case shows to work: kinds and labels of all that takes part in it."""
    output = {("server", case.name.server), ("loader", case.name.driver)}
    output |= {("upstream", label) for label, _ in case.upstreams}
    output |= {("backend", label) for label, _ in case.backends}
    for server in servers_of(case):
        if runtime := getattr(server, "runtime", None):
            output.add(("runtime", runtime))
        if (app := getattr(server, "app", None)) in ONLY_HERE:
            output.add(("app", str(app)))
    return output


def cover(cases: Iterable[Case]) -> list[Case]:
    """Return few cases that show all that these show: each time the one that shows most more."""
    candidates = [(case, shown_by(case)) for case in cases]
    chosen: list[Case] = []
    open_ = {thing for _, candidate in candidates for thing in candidate}
    while open_:
        case, output = max(candidates, key=lambda pair: len(pair[1] & open_))
        chosen.append(case)
        open_ -= output
    return chosen


def of_another_cpython(case: Case) -> bool:
    """Whether it takes a version of CPython that Debian does not have."""
    labels = [label for kind, label in shown_by(case) if kind == "runtime"]
    return any(SYSTEMS.runtimes[label].python.startswith("3.") for label in labels)


COVER = sorted(cover(CASES), key=CASES.index)
HERE = [case for case in COVER if not of_another_cpython(case)]
BATCHES = [HERE[start : start + AT_ONCE] for start in range(0, len(HERE), AT_ONCE)]
BATCHES.append([case for case in COVER if of_another_cpython(case)])


def test_the_suite_names_every_server_and_every_built_in_app() -> None:
    parts = [part for case in CASES for part in servers_of(case)]
    # These two are whatever a person makes of them: test_servers.py and test_run.py try them.
    assert set(Registry().names("server")) - {part.name for part in parts} == {"command", "url"}
    served = {app for part in parts if (app := getattr(part, "app", None))}
    assert set(built_in()) - served == set()
    backends = {"agents", "shop", "six", "foo", "graph"}
    assert {label for case in CASES for label, _ in case.backends} == backends


def test_the_suite_serves_each_app_by_every_server_that_speaks_it() -> None:
    served_by: dict[str, set[str]] = {}
    for case in CASES:
        served_by.setdefault(getattr(case.server, "app", ""), set()).add(case.server.name)
    for app in built_in():
        assert served_by[app] == set(PROTOCOLS[present(app_of(app).protocol)]), app


def test_the_cover_has_every_server_backend_and_interpreter() -> None:
    of_all, of_cover = (
        {thing for case in cases for thing in shown_by(case)} for cases in (CASES, COVER)
    )
    assert of_all == of_cover
    assert {kind for kind, _ in of_all} >= {"server", "upstream", "backend", "runtime", "app"}
    assert {thing for kind, thing in of_all if kind == "app"} == ONLY_HERE
    assert sum(map(len, BATCHES)) == len(COVER) < len(CASES) / 3


@pytest.mark.timeout(1000)
@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_the_cover_answers_under_load(bench: Bench, tmp_path: Path, number: int) -> None:
    judged(bench, tmp_path, BATCHES[number], "--set", f"loaders.wrk={SHORT}")


@pytest.mark.exhaustive
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("label", LABELS)
def test_all_answer_rightly_under_load_and_end(bench: Bench, tmp_path: Path, label: str) -> None:
    judged(bench, tmp_path, [case for case in CASES if case.name.scenario == label])


@pytest.mark.exhaustive
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("label", LABELS)
def test_none_is_accused_in_turns(bench: Bench, tmp_path: Path, label: str) -> None:
    cases = [case for case in CASES if case.name.scenario == label]
    servers = [case for case in cases if not getattr(case.server, "tls", False)]
    turns = (f'scenarios.{label}.interleave="100ms"', f'scenarios.{label}.each="500ms"')
    words = ["--set", turns[0], "--set", turns[1]]
    for start in range(0, len(servers) - 1, IN_TURNS):
        group = servers[start : start + IN_TURNS + (len(servers) - start == IN_TURNS + 1)]
        judged(bench, tmp_path, group, *words)


def judged(bench: Bench, folder: Path, planned: Sequence[Case], *settings: str) -> None:
    """Measure these cases: no check of answers or connections accuses an honest server.

    What a busy machine raises is measured again: it does not come each time.
    """
    actual = accusations(measured(bench, folder, planned, settings))
    for _ in range(AGAIN):
        again = [case for case in planned if case.name.title in actual]
        if not again:
            return
        newer = accusations(measured(bench, folder, again, settings))
        actual = {title: newer[title] for title in actual if title in newer}
    assert not actual


def measured(
    bench: Bench, folder: Path, planned: Sequence[Case], settings: Sequence[str]
) -> list[Trial]:
    """Return the trial of each of these cases: all were answered rightly, and ended."""
    needed("wrk", "ab", "postgres", "redis-server", "nginx", "virtuoso-t", "pypy3", "openssl")
    servers: dict[str, list[str]] = {}
    for case in planned:
        servers.setdefault(case.name.scenario, []).append(case.name.server)
    words = [word for label in servers for word in ("--only", label)]
    for label, chosen in servers.items():
        words += ["--set", f"scenarios.{label}.servers={json.dumps(chosen)}"]
    first = set(folder.glob("results/*"))
    call = bench("run", SUITE, *words, *settings, "--json", within_s=600)
    if call.code == MISSING and "no interpreter '3." in call.err:
        pytest.skip(call.err)  # Debian has one CPython
    assert call.code == 0, call.all
    (result,) = set(folder.glob("results/*")) - first
    trials = [*{trial.case.title: trial for trial in read_trials(result)}.values()]  # last attempts
    names = [trial.case.title for trial in trials]
    assert sorted(names) == sorted(case.name.title for case in planned)
    for trial in trials:
        assert trial.failure is None, trial.case.title
        assert present(trial.reading).responses > 0
        assert [answer.status for answer in trial.answers] == [trial.answers[0].status] * 2
        observed = trial.monitor or trial.load_answers
        assert observed is not None
    bench("validate", result, code=0)
    return trials


@pytest.mark.parametrize(
    ("id_", "server", "accuses"),
    [
        *((id_, "aiohttp", True) for id_ in ("E1", "E3", "E6", "E7", "K1", "K2", "K3")),
        *(("E6", "gunicorn", True), ("K2", "gunicorn", True), ("K1", "gunicorn", False)),
        *(("K1", "cheroot", True), ("K2", "cheroot", False)),
    ],
)
def test_an_accusation_counts_unless_it_is_true(id_: str, server: str, *, accuses: bool) -> None:
    check = LIMITS.check(id_, "behaviour", None, "wrong", status="fail")
    accused = accusations([plain.trial(case=plain.named(server), checks=(check,))])
    assert accused == ({plain.named(server).title: [f"{id_}: wrong"]} if accuses else {})
    excused = LIMITS.check("K3", "apparatus", None, "late", status="warn")
    assert not accusations([plain.trial(case=plain.named(server), checks=(excused,))])
