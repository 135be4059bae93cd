"""A cluster of dask for tests: a scheduler beside the hosts of a lab, a worker on each of them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from front_door import WAITS_S, needed
from hosts_lab import NET, Lab

from benchforge.run.locate import locate

SCHEDULER = f"{NET}.250"
PORT = 8786


def table(hosts: Lab, folder: Path) -> str:
    """Return the TOML of the engine and of all hosts."""
    lines = [
        "[engine]",
        'use = "dask"',
        f'scheduler = "tls://{SCHEDULER}:{PORT}"',
        *(f'{name} = "{folder}/{file}"' for name, file in _FILES.items()),
    ]
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    for label, address in hosts.addresses.items():
        lines += [f"[hosts.{label}]", f'worker = "{label}"', f'address = "{address}"']
        lines.append(f'python = "{python}"')
    return "\n".join([*lines, ""])


_FILES = {"ca": "ca.pem", "certificate": "cluster.pem", "key": "cluster.key"}


@contextlib.contextmanager
def cluster(hosts: Lab, folder: Path) -> Iterator[dict[str, "subprocess.Popen[str]"]]:
    """Start a scheduler and a worker on each host; give the workers until the test ends."""
    authority(folder)
    environment = {**hosts.environment, "OPENBLAS_NUM_THREADS": "1"}
    tls = [f"--tls-ca-file={folder}/ca.pem", f"--tls-cert={folder}/cluster.pem"]
    tls.append(f"--tls-key={folder}/cluster.key")
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    words = ["--host", SCHEDULER, "--port", str(PORT), "--protocol", "tls", "--no-dashboard", *tls]
    with contextlib.ExitStack() as stack:
        scheduler = stack.enter_context(_ended([*dask, *words], environment))
        _printed(scheduler, "Scheduler at")
        workers: dict[str, subprocess.Popen[str]] = {}
        for label, pid in hosts.pids.items():
            own = {"TMPDIR": str(hosts.folder / label / "tmp")}
            own["XDG_CACHE_HOME"] = f"{hosts.folder}/{label}/home"
            own["BENCHFORGE_PROGRAMS"] = str(Path(sys.prefix).parent / ".tools/system")
            enter = ["nsenter", "-t", str(pid), "-n", "-m", "-p", "--"]
            dask = [sys.executable, "-m", "distributed.cli.dask_worker"]
            words = [f"tls://{SCHEDULER}:{PORT}", "--name", label, "--nthreads", "1"]
            words += ["--no-nanny", "--no-dashboard", "--host", hosts.addresses[label]]
            words += ["--local-directory", f"{hosts.folder}/{label}", "--memory-limit", "0", *tls]
            started = _ended([*enter, *dask, *words], {**environment, **own})
            workers[label] = stack.enter_context(started)
        for worker in workers.values():
            _printed(worker, "Registered to:")
        yield workers


def authority(folder: Path, name: str = "cluster") -> None:
    """Make an authority, and a certificate with which the parts of a cluster show themselves."""
    needed("openssl")
    folder.mkdir(exist_ok=True)
    openssl = locate("openssl")

    def made(*words: str) -> None:
        subprocess.run([str(openssl), *words], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    if not (folder / "ca.pem").exists():
        subject = ("-subj", "/CN=authority", "-days", "2")
        made("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", *subject)
    files = ("-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    made("req", *new, *files)
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2")
    made("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signed)


@contextlib.contextmanager
def _ended(words: list[str], environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Start a program, and kill it at the end."""
    process = subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for pid in (*map(int, children), process.pid):  # nsenter waits for what it started
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def _printed(process: "subprocess.Popen[str]", words: str) -> None:
    """Wait until a program prints some words."""
    assert process.stderr is not None
    deadline, lines = time.monotonic() + WAITS_S, list[str]()
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return
        assert time.monotonic() < deadline, lines
    raise AssertionError("".join(lines))
