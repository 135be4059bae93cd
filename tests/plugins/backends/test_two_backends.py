"""Two backends of one kind in one trial: ports, folders and templates of their own."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchforge_backends.postgresql import Postgresql
from benchforge_backends.redis import Redis
from benchforge_servers.custom.command import CommandServer
from front_door import needed
from made.plain import named
from measured.case import trial_context
from present import present
from serving.backends import run, write_dataset

from benchforge.errors import BenchforgeError
from benchforge.model.suite.placement import Tuning
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.parts.command import Command
from benchforge.parts.part import Backend, Driver, Server
from benchforge.parts.registry import Registry
from benchforge.run.trial.context import TrialInputs
from benchforge.run.trial.scope import TrialRecorder, TrialScope, trial_scope
from benchforge.run.trial.stages.order import together
from benchforge.run.trial.stages.start import start
from benchforge.suite.cases.case import Case
from benchforge.suite.plan import Measurement

pytestmark = pytest.mark.usefixtures("templates")
CHOSEN = {"DATABASE_URL": "{backends.other.url}", "REDIS_URL": "{backends.second.REDIS_URL}"}


@pytest.fixture(autouse=True, scope="module")
def programs() -> None:
    needed("postgres", "redis-server", "redis-cli", "wrk")


@pytest.fixture
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bf-") as folder:
        yield Path(folder)


def case(listen: str, environment: dict[str, str], mine: str) -> Case:
    """A server that sleeps, with two backends of each of two kinds."""
    backends: list[tuple[str, Backend]] = [
        ("agents", Postgresql.model_validate({"dataset": "agents", "listen": listen})),
        ("other", Postgresql.model_validate({"dataset": mine, "listen": listen})),
        ("first", Redis.model_validate({"dataset": "foo", "listen": listen})),
        ("second", Redis.model_validate({"listen": listen})),
    ]
    server: Server = CommandServer.model_validate(
        {"command": ["sleep", "100"], "environment": environment}
    )
    wrk = Registry().part("loader", "wrk").model_validate({})
    assert isinstance(wrk, Driver)
    return Case(
        name=named("mine", scenario="a"),
        server=server,
        backends=tuple(backends),
        driver=wrk,
        request=Request(),
        expect=Expect(),
        metrics=(),
        warm_up_s=0,
        tuning=Tuning(),
    )


@contextlib.contextmanager
def scope_of(case: Case, folder: Path, scratch: Path) -> Iterator[TrialScope]:
    step = Measurement(block=1, position=1, case=case, seed=1)
    inputs, recorder = TrialInputs(step, folder, number=1), TrialRecorder(lambda _: None)
    with trial_scope(inputs, trial_context(case, folder), recorder, scratch) as scope:
        yield scope


@pytest.mark.samples(1)
@pytest.mark.parametrize("listen", ["unix", "tcp"])
def test_they_do_not_collide(tmp_path: Path, scratch: Path, listen: str) -> None:
    mine = write_dataset(tmp_path, "postgresql", "t = 0", {"a.sql": "CREATE TABLE t (id int);"})
    request = case(listen, CHOSEN, mine)
    with scope_of(request, tmp_path, scratch) as scope:
        sandbox = scope.sandbox
        ((*backends, server),) = together([scope], [start(scope)])
        assert len({port for backend in backends for port in backend.site.ports.values()}) == 4
        assert len({backend.site.scratch for backend in backends}) == 4
        settings = {
            backend.site.label: backend.part.gives(backend.site)["url"] for backend in backends
        }
        assert len(set(settings.values())) == 4
        site = server.site
        psql, cli = (
            trial_context(request, tmp_path).programs[name] for name in ("psql", "redis-cli")
        )
        tables = "SELECT string_agg(tablename, ' ') FROM pg_tables WHERE schemaname = 'public'"
        actual = [
            run(sandbox, site, Command(psql, "-XAtqc", tables, settings[name]))[1]
            for name in ("agents", "other")
        ]
        assert sorted(actual[0].split()) == ["agent_login_status", "agentfeatures"]
        assert actual[1].split() == ["t"]
        for serving, keys in zip(backends[2:], ("1\n", "0\n"), strict=True):
            port, socket = serving.site.ports["redis"], serving.site.scratch / "redis.sock"
            to = ("-s", socket) if listen == "unix" else ("-p", port)
            assert run(sandbox, site, Command(cli, *to, "DBSIZE")) == (0, keys)
        environment = present(server.running).command.environment
        assert environment["DATABASE_URL"] == settings["other"]
        assert environment["REDIS_URL"] == settings["second"]


def test_a_name_that_both_give_must_be_chosen(tmp_path: Path, scratch: Path) -> None:
    request = case("unix", {"REDIS_URL": CHOSEN["REDIS_URL"]}, "agents")
    text = "mine: backends agents and other both give DATABASE_URL"
    failing = pytest.raises(BenchforgeError, match=text)
    with scope_of(request, tmp_path, scratch) as scope, failing as caught:
        together([scope], [start(scope)])
    assert 'environment = { DATABASE_URL = "{backends.other.url}" }' in caught.value.hint
