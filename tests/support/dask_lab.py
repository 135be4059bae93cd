"""A cluster of dask for tests: a scheduler beside the hosts of a lab, a worker on each of them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from front_door import WAITS_S, captured, needed_module, program_words
from hosts_lab import NET, PYTHON, Lab, lab

from benchforge.run.sandbox import procfs

SCHEDULER = f"{NET}.250"
PORT = 8786


def table(hosts: Lab, folder: Path, names: Mapping[str, str] | None = None) -> str:
    """Return the TOML of the engine and of all hosts; `names` are workers or their resources."""
    lines = [
        "[engine]",
        'use = "dask"',
        f'scheduler = "tls://{SCHEDULER}:{PORT}"',
        *(f'{name} = "{folder}/{file}"' for name, file in _FILES.items()),
    ]
    for label, address in hosts.addresses.items():
        worker = (names or {}).get(label, label)
        lines += [f"[hosts.{label}]", f'worker = "{worker}"', f'address = "{address}"']
        lines.append(f'python = "{PYTHON}"')
    return "\n".join([*lines, ""])


_FILES = {"ca": "ca.pem", "certificate": "cluster.pem", "key": "cluster.key"}


@dataclass
class Cluster:
    """A scheduler and workers, each of which can be started anew after its end."""

    hosts: Lab
    folder: Path
    resources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    "Resources of each worker, such as `db=1`."
    scheduler: "subprocess.Popen[str] | None" = None
    workers: "dict[str, subprocess.Popen[str]]" = field(default_factory=dict)

    def start_scheduler(self) -> None:
        """Start the scheduler, and wait until it listens."""
        words = ["--host", SCHEDULER, "--port", str(PORT), "--protocol", "tls", "--no-dashboard"]
        dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        self.scheduler = self._started("scheduler", [*dask, *words, *self._tls()], {})
        printed = self._printed(self.scheduler, "scheduler", "Scheduler at")
        assert printed, self._log("scheduler").read_text()

    def start_workers(self, labels: Sequence[str]) -> None:
        """Start the workers of hosts, and wait until they are registered."""
        for label in labels:
            self.workers[label] = self._worker(label)
        deadline = time.monotonic() + WAITS_S
        for label in labels:
            while not self._printed(self.workers[label], label, "Registered to:"):
                text = self._log(label).read_text()
                assert "name taken" in text, text
                assert time.monotonic() < deadline, text
                self.workers[label] = self._worker(label)  # the scheduler had not lost the last one

    def end(self, label: str) -> None:
        """Kill a host's worker, if it runs."""
        _killed(self.workers[label])

    def end_all(self) -> None:
        """Kill all of the cluster that runs."""
        for process in (*self.workers.values(), self.scheduler):
            if process is not None:
                _killed(process)

    def _worker(self, label: str) -> "subprocess.Popen[str]":
        session = self.hosts.session(label)
        enter = ["nsenter", "-t", str(self.hosts.pids[label]), "-n", "-m", "-p", "--"]
        dask = [sys.executable, "-m", "distributed.cli.dask_worker"]
        words = [f"tls://{SCHEDULER}:{PORT}", "--name", label, "--nthreads", "1"]
        words += ["--no-nanny", "--no-dashboard", "--host", self.hosts.addresses[label]]
        words += ["--local-directory", f"{self.hosts.folder}/{label}", "--memory-limit", "0"]
        if resources := " ".join(self.resources.get(label, ())):
            words += ["--resources", resources]
        return self._started(label, [*enter, *dask, *words, *self._tls()], session)

    def _tls(self) -> list[str]:
        options = zip(("ca-file", "cert", "key"), _FILES.values(), strict=True)
        return [f"--tls-{option}={self.folder}/{file}" for option, file in options]

    def _log(self, name: str) -> Path:
        return self.folder / f"dask-{name}.log"

    def _started(
        self, name: str, words: list[str], mine: dict[str, str]
    ) -> "subprocess.Popen[str]":
        """Start a program, whose log is a file: nobody would read a pipe."""
        environment = {**self.hosts.environment, "OPENBLAS_NUM_THREADS": "1", **mine}
        with self._log(name).open("w") as log:
            null = subprocess.DEVNULL
            return subprocess.Popen(
                words, env=environment, stdin=null, stdout=null, stderr=log, text=True
            )

    def _printed(self, process: "subprocess.Popen[str]", name: str, words: str) -> bool:
        """Wait until a program prints some words; false where it ends without them."""
        deadline = time.monotonic() + WAITS_S
        while words not in (text := self._log(name).read_text()):
            if process.poll() is not None:
                return False
            assert time.monotonic() < deadline, text
            time.sleep(0.05)
        return True


@contextlib.contextmanager
def cluster(
    hosts: Lab, folder: Path, resources: Mapping[str, Sequence[str]] | None = None
) -> Iterator[Cluster]:
    """Give a scheduler, and a worker on each host, until the test ends."""
    authority(folder)
    mine = Cluster(hosts, folder, resources or {})
    try:
        mine.start_scheduler()
        mine.start_workers(list(hosts.pids))
        yield mine
    finally:
        mine.end_all()


@contextlib.contextmanager
def connected(
    engine: str, folder: Path, labels: Sequence[str], variables: Mapping[str, str] | None = None
) -> Iterator[tuple[Lab, str]]:
    """Give hosts, and the TOML by which an engine connects them, until the test ends."""
    with lab(folder, labels, variables) as hosts:
        if engine == "ssh":
            yield hosts, "".join(map(hosts.table, labels))
            return
        needed_module("distributed")
        with cluster(hosts, folder):
            yield hosts, table(hosts, folder)


def authority(folder: Path, name: str = "cluster") -> None:
    """Make an authority, and a certificate with which the parts of a cluster show themselves."""
    folder.mkdir(exist_ok=True)
    openssl = program_words("openssl")

    def made(*words: str) -> None:
        captured([*openssl, *words], cwd=folder, check=True)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    if not (folder / "ca.pem").exists():
        subject = ("-subj", "/CN=authority", "-days", "2")
        made("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", *subject)
    files = ("-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    made("req", *new, *files)
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2")
    made("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signed)


def _killed(process: "subprocess.Popen[str]") -> None:
    """Kill a program, and what it waits for: nsenter waits for what it started."""
    if process.poll() is None:
        for pid in (*procfs.children(process.pid, process.pid), process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
