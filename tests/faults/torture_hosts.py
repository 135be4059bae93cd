"""Kill what carries a run on hosts at seeded random moments, and look at what is left each time.

`python tests/support/own_place.py python tests/faults/torture_hosts.py FOLDER KILLS SEED MINUTES`,
with tests/support on PYTHONPATH, prints a row of docs/robustness.md for each fault, and ends with
exit code 0 when nothing was left. A run of two hosts is hit KILLS times by each fault.
What ran on the host that is hit must be gone after ten seconds, and all of the run after it was
ended by SIGTERM. The hosts keep their folders, so that the last run shows what a start clears away.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from hosts_lab import Lab, lab

HOSTS = ("load", "app")
HIT = "app"
GONE_S = 10.0
ENDS_S = 120.0
LONGEST_S = 15.0  # after the begin of what is killed: a run begins, and measures
LOAD_S = 2.5  # after the begin of a load, and a bit beyond its end
IN_TRIAL = 0.6  # of the kills are timed from the begin of a load
SUITE = """
benchforge = 1

[placement.hosts]
loader = "load"
server = "app"

[servers.gunicorn]
use = "gunicorn"
app = "hello_wsgi"
workers = 2

[loaders.pace]
use = "pace"
connections = 2
duration = "2s"

[scenarios.hello]
servers = ["gunicorn"]
loaders = ["pace"]

[repeat]
blocks = 50
quiet = "off"
"""
FAULTS = {
    "benchforge": "",
    "the far end": "benchforge_engines.far",
    "the keeper on a host": "keeper.main",
    "the session of sshd": "notty",
    "the ssh client": "",
    "the link is cut": "benchforge_engines.far",
}
"What is killed, and words of its command line on the host."
CUT = "the link is cut"


@dataclass
class Seen:
    """What one fault did."""

    kills: int = 0
    in_load: int = 0
    gone_s: list[float] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def torture(folder: Path, kills: int, seed: int, minutes: float) -> dict[str, Seen]:
    """Hit so many runs with each fault, or as many as the time allows, and start one more."""
    moments, seen = random.Random(seed), {fault: Seen() for fault in FAULTS}
    deadline = time.monotonic() + 60 * minutes
    with lab(folder, HOSTS) as hosts:
        (folder / "suite.toml").write_text(SUITE + "".join(map(hosts.table, HOSTS)))
        for _ in range(kills):
            for fault in FAULTS if time.monotonic() < deadline else ():
                done = False
                while not done:
                    in_trial = moments.random() < IN_TRIAL
                    after_s = moments.uniform(0, LOAD_S if in_trial else LONGEST_S)
                    done = hit(hosts, folder, fault, after_s, seen[fault], in_trial=in_trial)
                left = "".join(f"{line}\n" for line in seen[fault].left)
                sys.stderr.write(f"{row(fault, seen[fault])}\n{left}")
        words = [*_run(folder), "--time-limit", "0"]
        subprocess.run(words, env=hosts.environment, check=False, timeout=ENDS_S, cwd=folder)
        for file in [file for host in HOSTS for file in (folder / host / "tmp").glob("bf-*")]:
            seen[CUT].left.append(f"after the last start: {file.name}")
    return seen


def hit(
    hosts: Lab, folder: Path, fault: str, after_s: float, seen: Seen, *, in_trial: bool
) -> bool:
    """Start a run, and kill one of its processes; false where it had ended by then."""
    with (folder / "printed").open("w") as printed:
        run = subprocess.Popen(
            _run(folder), env=hosts.environment, cwd=folder, stdout=printed, stderr=printed
        )
    try:
        deadline = time.monotonic() + ENDS_S
        while not victim(hosts, fault, run.pid) or (in_trial and not loaded(hosts)):
            assert run.poll() is None, (folder / "printed").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(after_s)
        there = {label: ours(hosts, label) for label in HOSTS}
        pid = victim(hosts, fault, run.pid)
        if not pid:
            return False
        seen.kills += 1
        seen.in_load += any(map(_loads, there["load"].values()))
        struck = time.monotonic()
        if fault == CUT:
            hosts.link(HIT, "down")
        elif fault in {"benchforge", "the ssh client"}:
            os.kill(pid, signal.SIGKILL)
        else:
            hosts.inside(HIT, "kill", "-9", str(pid))
        everywhere = HOSTS if fault == "benchforge" else (HIT,)
        own = fault == "the keeper on a host"  # the far end lives on, and begins another trial

        def still() -> list[str]:
            return [
                f"{fault}: {label}: {line}"
                for label in everywhere
                for one, line in ours(hosts, label).items()
                if one in there[label] and not (own and outlives(line))
            ]

        while (left := still()) and time.monotonic() - struck < GONE_S:
            time.sleep(0.05)
        seen.gone_s.append(time.monotonic() - struck)
        seen.left += left
    finally:
        hosts.link(HIT, "up")
        with contextlib.suppress(ProcessLookupError):
            run.terminate()
        run.wait(ENDS_S)
    ended = time.monotonic()
    while (after := [line for label in HOSTS for line in ours(hosts, label).values()]) and (
        time.monotonic() - ended < GONE_S
    ):
        time.sleep(0.05)
    seen.left += [f"{fault}: after the run: {line}" for line in after]
    if "Traceback" in (text := (folder / "printed").read_text()):
        seen.left.append(f"{fault}: {text}")
    return True


def loaded(hosts: Lab) -> bool:
    """Whether the load tool sends its load."""
    return any(_loads(line) for line in ours(hosts, "load").values())


def _loads(line: str) -> bool:
    return "pace_main" in line and "--version" not in line


def victim(hosts: Lab, fault: str, controller: int) -> int:
    """Return the pid of what a fault kills; 0 where it is not there."""
    if fault == "benchforge":
        return controller
    if fault == "the ssh client":
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{controller}/task/{controller}/children").read_text().split()
            for one in reversed(children):
                if b"\0" + HIT.encode() + b"\0" in Path(f"/proc/{one}/cmdline").read_bytes():
                    return int(one)
        return 0
    lines = hosts.inside(HIT, "ps", "-wweo", "pid,args", "--no-headers").stdout.splitlines()
    named = [one.split()[0] for one in lines if FAULTS[fault] in one]
    return int(named[0]) if named else 0


def ours(hosts: Lab, label: str) -> dict[str, str]:
    """Return what runs on a host but for its sshd and our look, by pid and start."""
    shown = hosts.inside(label, "ps", "-wweo", "pid,lstart,stat,args", "--no-headers").stdout
    processes: dict[str, str] = {}
    for words in (line.split(None, 7) for line in shown.splitlines()):
        if len(words) == 8 and not words[6].startswith("Z") and not _of_host(words[7]):
            processes[" ".join(words[:6])] = words[7]
    return processes


def outlives(line: str) -> bool:
    """Whether a process is to live on after its trial's keeper: the far end, and what starts it."""
    return "benchforge_engines.far" in line


def _of_host(line: str) -> bool:
    return "sshd" in line or line.startswith(("ps -wweo", "sh -c", "/bin/sh", "unshare"))


def _run(folder: Path) -> list[str]:
    return [sys.executable, "-m", "benchforge", "run", "suite.toml", "-o", str(folder / "results")]


def row(fault: str, seen: Seen) -> str:
    """Return a row of the page."""
    name = fault if fault == CUT else f"kill -9 of {fault}"
    gone = sorted(seen.gone_s)
    median, most = gone[len(gone) // 2], gone[-1]
    left = f"{len(seen.left)} processes" if seen.left else "nothing"
    return f"| {name} | {seen.kills} | {seen.in_load} | {left} | {median:.1f} s | {most:.1f} s |"


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    came = torture(where, int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    for name, one in came.items():
        sys.stdout.write(f"{row(name, one)}\n")
    left = [line for one in came.values() for line in one.left]
    sys.stdout.write("".join(f"left: {line}\n" for line in left))
    sys.exit(1 if left else 0)
