"""A PostgreSQL for tests, with the agents of study AH."""

import os
import signal
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from front_door import needed
from measured.once import made_once
from present import present
from serving.apps import free_port, wait_until

from benchforge.run.locate import libraries, locate

DATASET = Path(__file__).parents[3] / "benchforge/parts/database/datasets/agents"
NOBODY = 65534


class Postgres:
    """A private server, on a free TCP port and on a socket in its own short folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin, self.port = folder, present(locate("initdb")).parent, free_port()
        self.log = folder / "log"
        self.environment = {**os.environ, **libraries(self.bin / "initdb")}
        self.tcp = f"postgresql://bench@127.0.0.1:{self.port}/benchmarks?sslmode=disable"
        self.unix = f"postgresql://bench@/benchmarks?host={folder}&port={self.port}"

    def initialise(self) -> None:
        initdb = f"{self.bin}/initdb -D {self.folder}/data -A trust -U bench -E UTF8 --no-sync"
        words = [*initdb.split(), "--locale=C.UTF-8"]
        with self.silently() as options:
            subprocess.run(words, check=True, **options)

    def load(self) -> None:
        self.run("createdb", "benchmarks")
        for file in tomllib.loads((DATASET / "dataset.toml").read_text())["files"]:
            self.run(
                "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-f", str(DATASET / file), "benchmarks"
            )

    def start(self) -> None:
        settings = ("fsync=off", "log_statement=all", "log_connections=on")
        options = [part for setting in settings for part in ("-c", setting)]
        words = [f"{self.bin}/postgres", "-D", f"{self.folder}/data", "-h", "127.0.0.1"]
        words += ["-k", str(self.folder), "-p", str(self.port), *options]
        with self.silently() as more:
            self.process = subprocess.Popen(words, **more)
        ready = [f"{self.bin}/pg_isready", "-q", "-h", str(self.folder), "-p", str(self.port)]
        wait_until(
            lambda: subprocess.call(ready, env=self.environment) == 0, self.process, self.log
        )

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(100)

    def run(self, program: str, *arguments: str) -> str:
        to = ["-h", str(self.folder), "-p", str(self.port), "-U", "bench"]
        command = [f"{self.bin}/{program}", *to, *arguments]
        done = subprocess.run(
            command, check=True, text=True, stdout=subprocess.PIPE, env=self.environment
        )
        return done.stdout

    @contextmanager
    def silently(self) -> Iterator[dict[str, Any]]:
        """Write to the log, as somebody else than root: PostgreSQL refuses root."""
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        with self.log.open("ab") as log:
            output = {"stdout": log, "stderr": subprocess.STDOUT}
            yield {**output, "env": self.environment, **other}


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    needed("initdb", "postgres", "psql")
    cluster = made_once(tmp_path_factory, "postgres", _filled)
    with _place() as folder:
        _copy(cluster, folder)
        with _started(folder) as server:
            yield server


def _filled(folder: Path) -> Path:
    """Make a cluster with the agents in a folder, where no server runs on it."""
    with _place() as path:
        Postgres(path).initialise()
        with _started(path) as server:
            server.load()
        _copy(path, folder)
    return folder


@contextmanager
def _place() -> Iterator[Path]:
    """Give a folder that is short enough for sockets, and PostgreSQL's own user's."""
    with tempfile.TemporaryDirectory(prefix="bf-", dir="/tmp") as folder:
        if os.getuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


@contextmanager
def _started(folder: Path) -> Iterator[Postgres]:
    server = Postgres(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _copy(cluster: Path, folder: Path) -> None:
    """Copy a cluster with its owner and rights, which PostgreSQL looks at."""
    subprocess.run(["cp", "-a", cluster / "data", folder], check=True)
