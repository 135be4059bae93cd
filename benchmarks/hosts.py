"""What hosts cost: wrk through the engine over wrk by hand, and the engine during a load.

    PYTHONPATH=tests/support .venv/bin/python tests/support/own_place.py \
        .venv/bin/python benchmarks/hosts.py FOLDER [BLOCKS]

Two hosts are namespaces with an OpenSSH server each. One run of the real command gives the command
lines and environments of gunicorn and wrk. Each block then measures in a random order: that run
again, and twice the same two commands by hand, with no benchforge running. Each measurement has a
new server. Shown are mean ratios of wrk's requests per second with their 95 % intervals (paired t
on the logarithms), of which the one by hand over itself is the noise.

In a run with a longer load, the CPU time of what the engine runs on the server's host is read from
/proc, and the packets of its connection from the kernel's counters of that socket.
"""

import json
import math
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hosts_lab import Lab, lab, one_server

from benchforge.stats.inference.interval import t_of_logs

BLOCKS, LOAD_S, LONG_S = 12, 3, 20
HOSTS = ("load", "app")
SERVER = 'use = "gunicorn"\napp = "hello_flask"\nworkers = 1\nthreads = 4'
WRK = 'use = "wrk"\nconnections = 8'
PARTS = {"the far end": "benchforge.remote.agent", "the session of sshd": "sshd: root@notty"}
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print; judge nothing."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    blocks = int(sys.argv[2]) if sys.argv[2:] else BLOCKS
    with lab(folder, HOSTS) as hosts:
        tables = "".join(map(hosts.table, HOSTS))
        (folder / "suite.toml").write_text(one_server(LOAD_S, SERVER, WRK) + tables)
        (folder / "long.toml").write_text(one_server(LONG_S, SERVER, WRK) + tables)
        for line in cost(hosts, folder):
            show(line)
        (server, wrk), _ = trial(hosts, folder)
        arms = {
            "engine": lambda: trial(hosts, folder)[1],
            "hand": lambda: by_hand(hosts, server, wrk),
            "again": lambda: by_hand(hosts, server, wrk),
        }
        rows: list[dict[str, float]] = []
        shuffled = random.Random(5)  # noqa: S311 - an order
        for number in range(blocks):
            order = shuffled.sample(sorted(arms), len(arms))
            rows.append({name: arms[name]() for name in order})
            show(f"{number + 1}: " + ", ".join(f"{name} {rows[-1][name]:.0f}" for name in arms))
        for a, b in (("again", "hand"), ("engine", "hand"), ("engine", "again")):
            logs = [math.log(row[a] / row[b]) for row in rows]
            ratio = t_of_logs(logs, "paired t of log-ratios", 0.95)
            show(f"{a} / {b}: {ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})")


def show(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(folder: Path, suite: str) -> list[str]:
    """Return the words of a run."""
    results = str(folder / "results")
    return [sys.executable, "-m", "benchforge", "run", suite, "-o", results]


def trial(hosts: Lab, folder: Path) -> tuple[list[dict[str, Any]], float]:
    """Measure through the engine; return the two processes, and wrk's requests per second."""
    before = set(folder.glob("results/*"))
    words = run(folder, "suite.toml")
    subprocess.run(words, env=hosts.environment, capture_output=True, cwd=folder, check=False)
    (result,) = set(folder.glob("results/*")) - before
    measured = json.loads((result / "trials/0001/trial.json").read_text())
    named = {one["label"]: one for one in measured["processes"]}
    return [named["server-server"], named["loader-tool"]], rate(
        (result / "trials/0001/loader-tool.out").read_text()
    )


def rate(text: str) -> float:
    """Return what wrk printed."""
    seen = re.search(r"Requests/sec:\s+([\d.]+)", text)
    if seen is None:
        raise SystemExit(text)
    return float(seen[1])


def words_of(hosts: Lab, label: str, process: dict[str, Any]) -> list[str]:
    """Return the words that start a recorded process on a host, in a session of its own."""
    environment = [f"{name}={value}" for name, value in process["environment"].items()]
    enter = ["nsenter", "-t", str(hosts.pids[label]), "-n", "-m", "-p", "--"]
    place = ["env", "-i", "-C", str(hosts.folder / label / "tmp"), *environment]
    return [*enter, *place, "setsid", "-w", *process["argv"]]


def by_hand(hosts: Lab, server: dict[str, Any], wrk: dict[str, Any]) -> float:
    """Start the server, run wrk, and stop the server; return wrk's requests per second."""
    null = subprocess.DEVNULL
    words = words_of(hosts, "app", server)
    serving = subprocess.Popen(words, stdin=null, stdout=null, stderr=null)
    try:
        url = next(one for one in wrk["argv"] if one.startswith("http://"))
        asks = ["curl", "-fsS", "-o", "/dev/null", "--retry", "100", "--retry-delay", "0"]
        subprocess.run([*asks, "--retry-all-errors", url], check=True, capture_output=True)
        words = words_of(hosts, "load", wrk)
        return rate(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    finally:
        for pid, line in processes(hosts, "app"):
            if "gunicorn" in line:
                hosts.inside("app", "kill", "-9", str(pid))
        serving.wait()


def processes(hosts: Lab, label: str) -> Iterator[tuple[int, str]]:
    """Yield pid and command line of all that runs on a host."""
    shown = hosts.inside(label, "ps", "-wweo", "pid,args", "--no-headers").stdout
    for line in shown.splitlines():
        pid, _, words = line.strip().partition(" ")
        yield int(pid), words


def cost(hosts: Lab, folder: Path) -> Iterator[str]:
    """Yield what the engine uses on the server's host during a long load."""
    with (folder / "printed").open("w") as printed:
        words = run(folder, "long.toml")
        running = subprocess.Popen(
            words, env=hosts.environment, stdout=printed, stderr=printed, cwd=folder
        )
        while not any("wrk -" in line or "/wrk " in line for _, line in processes(hosts, "load")):
            if running.poll() is not None:
                raise SystemExit((folder / "printed").read_text())
            time.sleep(0.1)
        time.sleep(2)
        before, began = counted(hosts), time.monotonic()
        time.sleep(LONG_S - 8)
        after, seconds = counted(hosts), time.monotonic() - began
        running.wait()
    for name in before:
        per_s = (after[name] - before[name]) / seconds
        shown = f"{per_s / TICKS:.2%} of a CPU" if name in PARTS else f"{per_s:.1f} per second"
        yield f"{name}: {shown}"


def counted(hosts: Lab) -> dict[str, float]:
    """Return CPU ticks of the engine's processes, and the counters of its connection."""
    counts: dict[str, float] = dict.fromkeys(PARTS, 0.0)
    for pid, line in processes(hosts, "app"):
        for name, words in PARTS.items():
            if words in line:
                fields = hosts.inside("app", "cat", f"/proc/{pid}/stat").stdout.rpartition(")")[2]
                counts[name] += sum(map(int, fields.split()[11:13]))
    sockets = hosts.inside("app", "ss", "-tin", "state", "established", "sport", "=", ":22").stdout
    for name in ("segs_in", "segs_out", "bytes_received", "bytes_sent"):
        counts[name] = sum(map(int, re.findall(rf"\b{name}:(\d+)", sockets)))
    return counts


if __name__ == "__main__":
    main()
