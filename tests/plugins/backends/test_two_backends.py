"""Two backends of one kind in one trial: ports, folders and templates of their own."""

from pathlib import Path

import pytest
from front_door import needed, needed_module
from measured.case import cases, trial_of
from present import present
from serving.backends import write_dataset
from suite_texts.files import suite_text

from benchforge.model.trial.trial import Trial

pytestmark = pytest.mark.usefixtures("templates")
CHOSEN = 'DATABASE_URL = "{backends.other.url}", REDIS_URL = "{backends.second.REDIS_URL}"'
EACH = ", ".join(f'{name} = "{{backends.{name}.url}}"' for name in ("agents", "first"))
# Answers with the tables of each database, and the number of keys of each store.
APP = """
import os
import psycopg2
import redis

QUERY = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"

def app(environ, start_response):
    answers = []
    for name in ("agents", "DATABASE_URL"):
        with psycopg2.connect(os.environ[name]) as connection, connection.cursor() as cursor:
            cursor.execute(QUERY)
            answers += [table for table, in cursor.fetchall()]
    keys = [redis.Redis.from_url(os.environ[name]).dbsize() for name in ("first", "REDIS_URL")]
    body = " ".join(map(str, answers + keys)).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture(autouse=True, scope="module")
def programs() -> None:
    needed("postgres", "redis-server", "redis-cli", "wrk")
    for module in ("psycopg2", "redis"):
        needed_module(module)


def measured(folder: Path, listen: str, environment: str) -> Trial:
    (folder / "mine.py").write_text(APP)
    write_dataset(folder, "postgresql", "t = 0", {"a.sql": "CREATE TABLE t (id int);"})
    text = suite_text("plugins/backends/two", listen=listen, environment=environment)
    (folder / "suite.toml").write_text(text)
    (case,) = cases(folder / "suite.toml")
    return trial_of(case, folder)


@pytest.mark.samples(1)
@pytest.mark.parametrize("listen", ["unix", "tcp"])
def test_they_do_not_collide(tmp_path: Path, listen: str) -> None:
    trial = measured(tmp_path, listen, f"{{ {EACH}, {CHOSEN} }}")
    assert trial.measured, trial.failure  # the suite expects what each of the four has


def test_a_name_that_both_give_must_be_chosen(tmp_path: Path) -> None:
    failure = present(measured(tmp_path, "unix", f"{{ {CHOSEN.partition(', ')[2]} }}").failure)
    assert failure.message == "mine: backends agents and other both give DATABASE_URL"
    assert 'environment = { DATABASE_URL = "{backends.other.url}" }' in failure.hint
