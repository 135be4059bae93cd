"""In the machine's own network all services work as in a private one; what is unsure is unknown."""

import json
from pathlib import Path

import pytest
from front_door import Bench, answering, needed, needed_module
from suite_texts.with_wrk import suite, trials

pytestmark = pytest.mark.timeout(1000)

HOST = 'network = "host"'


def measured(bench: Bench, folder: Path, server: str, scenario: str = "", path: str = "") -> str:
    """Measure it in the machine's network; the summary as text."""
    file = suite(folder, server, scenario=scenario, top=HOST)
    if path:
        file.write_text(file.read_text().replace("/ping", path))
    call = bench("run", file, "--json", within_s=200, code=0)
    (trial,) = trials(folder)
    assert trial["failure"] is None
    assert trial["namespaces"]["network"] == "host"
    observation = trial["observation"]
    assert observation["network"] == "host"
    assert observation["foreign_connections"] == "the counters are those of the whole machine"
    (case,) = json.loads(call.out)["cases"]
    (line,) = [metric for metric in case["metrics"] if metric["metric"] == "keepalive"]
    assert line["median"] is None
    assert "the trial shared the machine's network" in line["why"]
    return call.out


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("backend", "app", "path", "dataset", "programs"),
    [
        ("postgresql", "flask_agents", "/agents", "agents", ("postgres", "psql", "initdb")),
        ("redis", "redis_flask", "/redis", "foo", ("redis-server", "redis-cli")),
        ("virtuoso", "virtuoso_flask_requests", "/", "classes", ("virtuoso-t", "isql-vt")),
    ],
)
def test_backends_serve_in_the_machines_network(
    bench: Bench,
    tmp_path: Path,
    backend: str,
    app: str,
    path: str,
    dataset: str,
    programs: tuple[str, ...],
) -> None:
    needed_module("flask")
    needed(*programs)
    server = f'use = "gunicorn"\napp = "{app}"\nworkers = 1\n[backends.db]\nuse = "{backend}"\n'
    server += f'dataset = "{dataset}"\n'
    measured(bench, tmp_path, server, 'backends = ["db"]', path)


@pytest.mark.samples(1)
@pytest.mark.parametrize("tls", ["false", "true"])
def test_nginx_in_the_machines_network(bench: Bench, tmp_path: Path, tls: str) -> None:
    needed("nginx", "openssl")
    front = f'\n[servers.front]\nuse = "nginx"\nupstream = "one"\ntls = {tls}\n'
    file = suite(tmp_path, answering() + front, top=HOST)
    file.write_text(file.read_text().replace('servers = ["one"]', 'servers = ["front"]'))
    bench("run", file, "--json", code=0)
    (trial,) = trials(tmp_path)
    assert trial["observation"]["foreign_connections"]
