"""Every suite that comes with benchforge loads and plans; those of studies say what they did."""

from pathlib import Path
from typing import Any

import pytest

from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.plan import START_AND_STOP_S, plan
from benchforge.suite.suite import Suite
from benchforge.suite.toml.built_in import brought
from benchforge.suite.toml.source import read

SUITES = Path(__file__).parents[2] / "suites"


def profiles_of(file: Path) -> list[str]:
    profiles = read(file).tables.get("profiles", {})
    assert isinstance(profiles, dict)
    return list(profiles)


FILES = sorted(SUITES.rglob("*.toml"))
EVERY = [(file.stem, profile) for file in FILES for profile in (None, *profiles_of(file))]
STUDIES = ["cherrypy", "api-hour", "wsgi"]

CASES = {
    "cherrypy": "cherrypy_app cherrypy_app_published cherrypy_raw_wsgi"
    " cherrypy_raw_wsgi_with_length",
    "api-hour": "django flask aiohttp aiohttp_aiopg api_hour django_published flask_published"
    " aiohttp_published api_hour_published nginx_django_meinheld nginx_django_uwsgi"
    " nginx_flask_meinheld nginx_flask_uwsgi nginx_api_hour",
    "wsgi": "tornado_flask gevent_flask gevent_pure_wsgi tornado_sock gevent_sock tornado_virtuoso"
    " tornado_virtuoso_native tornado_virtuoso_pypy gevent_virtuoso gevent_virtuoso_alt"
    " thread_server tornado_redis tornado_redis_async gevent_redis gevent_redis_sync",
}
"Servers that some profile measures, by suite."

# As the studies typed them. wrk2 shares 400 connections and 4000/s among its 12 threads by leaving
# out what is over, and our part says so beforehand.
LOADERS: dict[str, dict[str, dict[str, Any]]] = {
    "cherrypy": {
        "ab": {"requests": 1000, "connections": 1, "keep_alive": False},
        "ab_k": {"requests": 1000, "connections": 1, "keep_alive": True},
        "ab_c10": {"requests": 1000, "connections": 10, "keep_alive": False},
        "ab_k_c10": {"requests": 1000, "connections": 10, "keep_alive": True},
    },
    "api-hour": {
        "wrk": {"threads": 12, "connections": 400, "duration": 30},
        "wrk_50": {"threads": 12, "connections": 50, "duration": 300},
        "rate_4000": {"rate": 4000, "connections": 400, "duration": 300, "arrivals": "constant"},
        "rate_10": {"rate": 10, "connections": 10, "duration": 30, "arrivals": "constant"},
        "wrk2_4000": {"threads": 12, "connections": 396, "rate": 3996, "duration": 300},
        "wrk2_10": {"threads": 10, "connections": 10, "rate": 10, "duration": 30},
    },
    "wsgi": {
        "wrk": {"threads": 5, "connections": 50},
        "wrk_5": {"threads": 2, "connections": 5},
        "pace": {"requests": 10_000, "connections": 20},
        "weighttp": {"requests": 10_000, "threads": 10, "connections": 20, "keep_alive": True},
    },
}
"Options of the profile `published`, by suite and loader."

SYSCTLS = 25  # of study AH
FLAGSHIP_LINES, FLAGSHIP_S, SMOKE_S, MIX_S = 100, 4 * 60, 60, 5 * 60
POSTGRESQL = ("initdb", "pg_ctl", "postgres", "psql", "pg_isready")


def suite(stem: str, profile: str | None = None) -> Suite:
    return load(brought()[stem], Registry(), profile=profile)


def all_of(stem: str, profile: str | None = None) -> Suite:
    """Load a suite with all its scenarios, whatever `only` says."""
    labels = read(brought()[stem]).tables["scenarios"]
    assert isinstance(labels, dict)
    return load(brought()[stem], Registry(), profile=profile, only=list(labels))


@pytest.mark.parametrize(("stem", "profile"), EVERY)
def test_every_suite_loads_and_plans_in_every_profile(stem: str, profile: str | None) -> None:
    for loaded in (suite(stem, profile), all_of(stem, profile)):
        graph = plan(expand(loaded), loaded.repeat, seed=1)
        usual = loaded.repeat.blocks
        often = [item.find.rounds if item.find else item.blocks or usual for item in expand(loaded)]
        assert len(graph) == sum(often) > 0
        assert loaded.smoke or profile != "quick"


@pytest.mark.parametrize("stem", STUDIES)
def test_nothing_is_declared_that_nothing_uses(stem: str) -> None:
    loaded = [all_of(stem, profile) for profile in (None, *profiles_of(brought()[stem]))]
    cases = [case for item in loaded for case in expand(item)]
    servers = {case.name.server for case in cases}
    servers |= {label for case in cases for label, _ in case.upstreams}
    assert servers == set(loaded[0].servers)
    assert {case.name.driver for case in cases} == set(loaded[0].loaders)
    assert {label for case in cases for label, _ in case.backends} == set(loaded[0].backends)


@pytest.mark.parametrize("stem", [file.stem for file in FILES])
def test_every_scenario_says_what_a_right_answer_is(stem: str) -> None:
    for label, scenario in all_of(stem).scenarios.items():
        output = scenario.expect.model_fields_set
        assert output or scenario.kinds, label
        for kind in scenario.kinds.values():
            steps = kind.get("steps", [dict(kind)])
            assert isinstance(steps, list)
            assert all(isinstance(step, dict) and step.get("expect") for step in steps), label
        if stem in STUDIES:
            assert scenario.title, label
            assert "status" in output, label
            assert output & {"body", "length", "json_subset", "content_type"}, label


def programs_of(stem: str, profile: str | None) -> set[str]:
    """Return the programs that a suite needs; none of its parts has a runtime of its own."""
    parts = [part for case in expand(suite(stem, profile)) for part in case.parts]
    assert {getattr(part, "runtime", None) for part in parts} == {None}
    return {need.name for part in parts for need in part.needs() if need.kind == "program"}


def test_the_flagship_is_what_the_readme_promises() -> None:
    loaded = suite("macro")
    assert loaded.path.read_text().count("\n") <= FLAGSHIP_LINES
    graph = plan(expand(loaded), loaded.repeat, seed=1)
    assert graph.declared_s + START_AND_STOP_S * len(graph) < FLAGSHIP_S
    # It declares nothing but what `make run` measures, and answers each of its claims.
    cases = list(expand(loaded))
    assert {case.name.scenario for case in cases} == set(all_of("macro").scenarios)
    assert {case.name.server for case in cases} == set(loaded.servers)
    assert {case.name.driver for case in cases} == set(loaded.loaders)
    assert loaded.claims_to_test == loaded.claims
    assert loaded.claims
    # What `make run` prepares: no interpreter, no nginx, no TLS.
    for profile in (None, "quick"):
        assert programs_of("macro", profile) == {"wrk", *POSTGRESQL}
    quick = suite("macro", "quick")
    graph = plan(expand(quick), quick.repeat, seed=1)
    assert graph.declared_s + START_AND_STOP_S * len(graph) < SMOKE_S


@pytest.mark.parametrize("stem", ["shop", "queries"])
def test_a_mix_of_ours_ends_within_five_minutes(stem: str) -> None:
    loaded = suite(stem)
    graph = plan(expand(loaded), loaded.repeat, seed=1)
    assert graph.declared_s + START_AND_STOP_S * len(graph) < MIX_S
    assert len(loaded.claims_to_test) == len(loaded.claims) > 1
    assert programs_of(stem, None) == set(POSTGRESQL)


def test_the_default_of_api_hour_needs_what_make_run_prepares() -> None:
    loaded = suite("api-hour")
    graph = plan(expand(loaded), loaded.repeat, seed=1)
    # Eight cases and a placebo for each scenario: about seven minutes with starts and stops.
    assert loaded.only == ("index", "agents", "agents_ab")
    assert len(graph) == (8 + 3) * 5
    assert graph.declared_s == 55 * 6
    for profile in (None, "quick"):
        assert programs_of("api-hour", profile) == {"wrk", "ab", *POSTGRESQL}


@pytest.mark.parametrize("stem", STUDIES)
def test_the_cases_of_the_study_are_measured(stem: str) -> None:
    measured = {case.name.server for case in expand(suite(stem, "published"))}
    assert set(CASES[stem].split()) - measured == set()


@pytest.mark.parametrize("stem", STUDIES)
def test_published_has_the_numbers_of_the_study(stem: str) -> None:
    loaders = all_of(stem, "published").loaders
    for label, options in LOADERS[stem].items():
        part = loaders[label].part
        assert {name: getattr(part, name) for name in options} == options, label


def test_the_seven_tests_of_cherrypy_are_there() -> None:
    """Of section 2.2: which server, and what ab was told."""
    measured = {
        (case.name.server, case.name.driver)
        for case in expand(suite("cherrypy", "published"))
        if case.name.scenario in {"app", "raw_wsgi"}
    }
    assert measured == {
        *(("cherrypy_app", ab) for ab in ("ab", "ab_k", "ab_c10", "ab_k_c10")),
        *(("cherrypy_raw_wsgi", ab) for ab in ("ab", "ab_c10", "ab_k_c10")),
    }


def test_api_hour_as_published_has_sixteen_workers_and_the_settings_of_the_study() -> None:
    loaded = suite("api-hour", "published")
    for label, declared in loaded.servers.items():
        if label == "flask_leaking":  # one worker is enough
            continue
        part = declared.part
        counts = ("workers", "processes", "worker_processes")
        assert [getattr(part, name) for name in counts if hasattr(part, name)] == [16], label
    for label, declared in loaded.backends.items():
        settings = declared.options["settings"]
        assert isinstance(settings, dict), label
        expected = {"max_connections": 1000, "shared_buffers": "128MB", "work_mem": "32MB"}
        expected |= {"fsync": False, "synchronous_commit": False}
        assert settings == settings | expected
        assert declared.options["listen"] == "tcp"
    assert len(loaded.tuning.sysctl) == SYSCTLS
    assert loaded.tuning.limits == {"nofile": 1048576}
    assert suite("api-hour").tuning.sysctl == {}


def test_wsgi_has_the_queues_and_the_connections_of_the_study() -> None:
    cases = list(expand(suite("wsgi", "published")))
    queues = {case.name.server: getattr(case.server, "backlog", None) for case in cases}
    assert (queues["tornado_sock"], queues["gevent_sock"]) == (5, 500)
    increasing = (case.driver for case in cases if case.name.scenario == "increasing")
    assert {getattr(driver, "connections", None) for driver in increasing} == {10, 20, 30, 40, 50}


@pytest.mark.parametrize("stem", STUDIES)
def test_no_profile_needs_what_few_have(stem: str) -> None:
    for profile in (None, *profiles_of(brought()[stem])):
        drivers = {case.driver.name for case in expand(suite(stem, profile))}
        assert drivers <= {"wrk", "ab", "pace"}, profile


def test_the_suite_of_tools_names_every_loader_and_every_client() -> None:
    registry = Registry()
    suite = load(SUITES / "tools.toml", registry, only=["loaders", "rates", "by_hand", "clients"])
    drivers = {(case.driver.kind, case.driver.name) for case in list(expand(suite))}
    everything = {("loader", name) for name in registry.names("loader")}
    everything |= {("client", name) for name in registry.names("client")}
    # hyperfine has a scenario of its own: it needs a command.
    assert drivers | {("loader", "hyperfine")} == everything
