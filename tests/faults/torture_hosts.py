"""Kill what carries a run on two hosts, at seeded random moments, and look at what is left.

`own_place.py python tests/faults/torture_hosts.py FOLDER ENGINE KILLS SEED MINUTES FAULT...`, with
tests/support on PYTHONPATH, hits runs KILLS times with each fault, with all of them without one,
prints the table, and ends with exit code 0 when nothing was left. KILLS_CSV names a file to which
each kill is added. A run is hit by one fault after another until it ends, or is ended by SIGTERM.
All that a fault should end must be gone after ten seconds, on both hosts and here. At the end one
more run starts, and clears away the folders that the killed ones left; the results of some are
resumed, measure more, and are valid.

The place has no other processes, so that all of them are seen from here, with the host of each.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from dask_lab import Cluster, cluster, table
from faults.host_kills import GONE_S, Kill, append
from faults.host_kills import table as table_of_kills
from faults.standing import processes, shared_memory
from hosts_lab import Lab, lab, one_server, told_by

from benchforge.cli.console.reported import Shown, exit_code
from benchforge.model.files.folder import read_summary

HOSTS = ("load", "app")
HERE = ""
CALL = [sys.executable, "-m", "benchforge"]
SERVER = 'use = "gunicorn"\napp = "mine:app"\ndirectory = "code"\nworkers = 2'
APP = """
def app(environ, start):
    start("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""
BROUGHT = 8 << 20
"Bytes of the user's files, which do not shrink: they take a while to cross."
LOADER = 'use = "pace"\nconnections = 2\nrate = 200'
LOAD_S = 1
ENDS_S = 120.0
LONGEST_S = 5.0  # between two kills: a run begins, and measures
IN_LOAD = 0.4  # of the kills are timed from the begin of a load
ENDED = 0.15  # of the runs that survived a kill are ended by SIGTERM
UNPACKS = 0.1  # of the new runs bring benchforge's files again
RESUMES = 0.5  # of the new runs go on where the latest was ended
RESUMED, RESUMED_S = 5, 40  # results that are resumed at the end, and for how long
CUT = "cut of a host's network"
KILL = "kill -9 of "
FAR, KEEPER, SESSION = "benchforge.remote.agent", "keeper.main", "sshd: root"
WORKER, SCHEDULER = "dask_worker", "dask_scheduler"


@dataclass(frozen=True)
class Process:
    """A process of the place; its pid may be another's later, with its start never."""

    pid: int
    started: int
    host: str
    line: str
    parent: int


Pick = Callable[["Round"], list[Process]]


def _named(words: str, hosts: tuple[str, ...] = HOSTS) -> Pick:
    """Pick processes by their words: not nsenter, which waits for a worker and has its words."""
    return lambda item: [
        p
        for p in item.look()
        if words in p.line and p.host in hosts and not p.line.startswith("nsenter ")
    ]


def _sessions(item: "Round") -> list[Process]:
    """Pick sessions of sshd that serve somebody: one whose network was cut stays for a while."""
    parents = {p.parent for p in item.look()}
    return [p for p in _named(SESSION)(item) if p.pid in parents]


FAULTS: dict[str, dict[str, Pick]] = {
    "ssh": {
        KILL + "benchforge": lambda item: item.controller(),
        KILL + "the far end": _named(FAR),
        KILL + "the keeper on a host": _named(KEEPER),
        KILL + "the load tool": lambda item: [p for p in item.look() if loads(p)],
        KILL + "the session of sshd": _sessions,
        KILL + "the ssh client": _named("ssh -F", (HERE,)),
        CUT: _named(FAR),
    },
    "dask": {
        KILL + "benchforge": lambda item: item.controller(),
        KILL + "the far end": _named(FAR),
        KILL + "the keeper on a host": _named(KEEPER),
        KILL + "the load tool": lambda item: [p for p in item.look() if loads(p)],
        KILL + "the worker": _named(WORKER),
        KILL + "the scheduler": _named(SCHEDULER, (HERE,)),
        CUT: _named(FAR),
    },
}
"What each fault hits: one of these, at random. A cut is one of the network of that process."
LIVES_ON = (KILL + "the keeper on a host", KILL + "the load tool")
"The trial fails, and the connections stay."


def loads(process: Process) -> bool:
    """Whether it sends a load."""
    return "pace_main" in process.line and "--version" not in process.line


@dataclass
class Round:
    """Hosts, and the run on them that is hit."""

    hosts: Lab
    folder: Path
    engine: str
    seed: int
    moments: random.Random
    dask: Cluster | None = None
    run: "subprocess.Popen[bytes] | None" = None
    kills: list[Kill] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stays: set[tuple[int, int]] = field(default_factory=set)

    def begin(self) -> None:
        """Note what runs before any run: hosts, and the tool itself."""
        self._places = {_network(pid): label for label, pid in self.hosts.pids.items()}
        self.stays = {(p.pid, p.started) for p in self.look()}
        self._memory = shared_memory()
        self._mounts = {label: self._mounted(label) for label in HOSTS}

    def look(self) -> list[Process]:
        """Return what runs on both hosts and here, but for what has ended and nobody awaits."""
        observed = []
        for pid in processes():
            with contextlib.suppress(OSError, ValueError):
                path = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                if path[0] in "ZX" or not line:
                    continue
                host = self._places.get(_network(pid), HERE)
                observed.append(Process(pid, int(path[19]), host, line, int(path[1])))
        return observed

    def ours(self) -> list[Process]:
        """Return what a run started, on both hosts and here."""
        return [
            p
            for p in self.look()
            if (p.pid, p.started) not in self.stays
            and not (WORKER in p.line or SCHEDULER in p.line)
        ]

    def controller(self) -> list[Process]:
        """Return benchforge, if it runs."""
        return [p for p in self.look() if self.run is not None and p.pid == self.run.pid]

    def _mounted(self, label: str) -> set[str]:
        lines = Path(f"/proc/{self.hosts.pids[label]}/mountinfo").read_text().splitlines()
        return {line.split()[4] for line in lines}

    # --- a run ---

    def running(self) -> bool:
        """Whether a run goes on."""
        return self.run is not None and self.run.poll() is None

    def start(self) -> None:
        """Start a run where none goes on."""
        if self.running():
            return
        self.looked_after()
        if self.dask is not None:
            self._mend_cluster(self.dask, "")  # what was killed last may have ended after it
        if self.moments.random() < UNPACKS:
            for label in HOSTS:
                shutil.rmtree(self.folder / label / "home/benchforge", ignore_errors=True)
        with self.printed.open("w") as printed:
            self.run = subprocess.Popen(
                self.words(resumes=self.moments.random() < RESUMES),
                env=self.hosts.environment | {"PYTHONFAULTHANDLER": "1"},
                cwd=self.folder,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )

    def looked_after(self) -> None:
        """Look at what a run that has ended left: nothing, after ten seconds."""
        run, self.run = self.run, None
        if run is None:
            return
        self._awaited(run)
        ended = time.monotonic()
        while (rest := self.ours()) and time.monotonic() - ended < GONE_S:
            time.sleep(0.05)
        self.failed("after the run", rest)
        if "Traceback" in (text := self.printed.read_text()):
            self.failures.append(text)

    def _awaited(self, run: "subprocess.Popen[bytes]") -> None:
        try:
            run.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGABRT)  # faulthandler prints where its threads are
            run.wait()
            self.failures.append(f"a run did not end: {self.printed.read_text()}")

    def failed(self, when: str, processs: list[Process]) -> None:
        """Note what was left, end it, and count it no more."""
        for process in processs:
            self.failures.append(f"{when}: {process.host or 'here'}: {process.line[:300]}")
            self.stays.add((process.pid, process.started))
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    @property
    def printed(self) -> Path:
        """What the run printed."""
        return self.folder / "printed"

    def words(self, *, resumes: bool = False) -> list[str]:
        """Return the words of a run, or of one that resumes the latest."""
        if resumes and (results := self.results()):
            return [*CALL, "run", "--resume", str(results[-1])]
        return [*CALL, "run", "suite.toml", "-o", str(self.folder / "results")]

    def results(self) -> list[Path]:
        """Return the results of all runs, the latest last."""
        return sorted(header.parent for header in self.folder.glob("results/[!.]*/result.json"))

    def phase(self, processs: list[Process]) -> str:
        """Return what the run does."""
        on_hosts = [p for p in processs if p.host != HERE]
        if any(map(loads, on_hosts)):
            return "a load"
        if any(KEEPER in p.line for p in on_hosts):
            return "a trial"
        far = {p.host for p in on_hosts if f"-m {FAR}" in p.line}
        return "between trials" if far == set(HOSTS) else "connecting"

    # --- a kill ---

    def hit(self, fault: str) -> None:
        """Hit a run at a random moment, and wait until what the fault should end is gone."""
        victim, at_random = self._at_random(FAULTS[self.engine][fault])
        phase, struck = self.phase(at_random), time.monotonic()
        should_end = [p for p in at_random if self._should_end(fault, p)]
        if fault == CUT:
            self.hosts.link(victim.host, "down")
        else:
            os.kill(victim.pid, signal.SIGKILL)
        left_after, last = 0, should_end
        while still := self._still(should_end):
            last = still
            gone_s = time.monotonic() - struck
            if gone_s > GONE_S and not left_after:
                left_after = len(still)
                lines = [f"{p.host or 'here'}: {p.line[:300]}" for p in still]
                self.failures.append(f"{fault} in {phase} of {victim.host}: {lines}")
            if gone_s > ENDS_S:
                self.failed(fault, still)
            time.sleep(0.02)
        gone_s = time.monotonic() - struck
        where = f"{fault} ({victim.host or 'here'}), in {phase}: {gone_s:.1f} s"
        _show(f"{where}; last: {last[0].host} {last[0].line[-80:]}" if last else where)
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        self.kills.append(
            Kill(today, self.seed, self.engine, fault, victim.host, phase, gone_s, left_after)
        )
        self._mended(fault, victim)

    def _at_random(self, pick: Pick) -> tuple[Process, list[Process]]:
        """Wait for a random moment at which there is something to hit; return it, and all else."""
        while True:
            self.start()
            if self.moments.random() < IN_LOAD:
                deadline = time.monotonic() + ENDS_S
                while self.running() and not any(map(loads, self.look())):
                    if time.monotonic() > deadline:
                        self.failures.append(f"no load: {self.printed.read_text()}")
                        self._ended()
                    time.sleep(0.15)
                time.sleep(self.moments.uniform(0, LOAD_S + 0.5))
            else:
                time.sleep(self.moments.uniform(0, LONGEST_S))
            victims = pick(self) if self.running() else []
            if victims:
                return self.moments.choice(victims), self.ours()

    def _should_end(self, fault: str, process: Process) -> bool:
        line = process.line
        if fault in LIVES_ON:
            return process.host != HERE and FAR not in line and "sshd" not in line
        if fault == CUT and "sshd" in line:
            return False  # it is the host's: nothing tells it of the cut
        if fault.endswith("of benchforge"):
            return True
        return process.host != HERE or line.startswith("ssh ")

    def _still(self, should_end: list[Process]) -> list[Process]:
        rest = []
        for process in should_end:
            with contextlib.suppress(OSError):
                path = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
                same = (process.pid, process.started) not in self.stays
                if int(path[19]) == process.started and path[0] not in "ZX" and same:
                    rest.append(process)
        return rest

    def _mended(self, fault: str, victim: Process) -> None:
        """Mend what was hit, so that the run can go on, or the next one can begin."""
        if fault == CUT:
            self.hosts.link(victim.host, "up")
        if self.dask is not None:
            self._mend_cluster(self.dask, fault)
        if fault.endswith(("of benchforge", "scheduler")) or self.moments.random() < ENDED:
            self._ended()

    def _mend_cluster(self, dask: Cluster, fault: str) -> None:
        if fault.endswith("the scheduler"):
            dask.end_all()
            dask.start_scheduler()
        ended = [label for label, worker in dask.workers.items() if worker.poll() is not None]
        dask.start_workers(ended)

    def _ended(self) -> None:
        """End the run by SIGTERM, and look at what is left."""
        if self.run is not None and self.running():
            self.run.terminate()
        self.looked_after()

    def end(self) -> None:
        """End the run; start one more, and look at what the hosts have that they had not."""
        self._ended()
        if self.dask is not None:
            self._mend_cluster(self.dask, "")  # what was killed last may have ended after it
        words = [*self.words(), "--time-limit", "0"]
        subprocess.run(words, env=self.hosts.environment, check=False, cwd=self.folder)
        self.looked_after()
        for result in self.results()[-RESUMED:]:
            self._resumed(result)
        files = [f for k in HOSTS for f in (self.folder / k / "tmp").glob("bf-*")]
        files += [f for k in HOSTS for f in (self.folder / k / "home").rglob("*.half*")]
        self.failures += [f"after the last start: {file}" for file in files]
        self.failures += [f"left: {item}" for item in shared_memory() - self._memory]
        for label in HOSTS:
            mounts = self._mounted(label) - self._mounts[label]
            self.failures += [f"left: mount {mount} on {label}" for mount in mounts]

    def _resumed(self, result: Path) -> None:
        """Resume a run that was ended: it measures more, and its result is valid."""
        trials = len([*result.glob("trials/*/trial.json")])
        words = ["run", "--resume", str(result), "--time-limit", f"{RESUMED_S}s"]
        ran = told_by(self.hosts.environment, self.folder, *words)
        more = len([*result.glob("trials/*/trial.json")]) - trials
        _show(f"{result.name} resumed: exit code {ran.code}, {more} more trials")
        # 4 where the summary has no answer, since the machine was too loud for one.
        if ran.code not in {0, 4} or ran.code != exit_code(read_summary(result), Shown()):
            self.failures.append(f"resume ended with {ran.code}: {ran.all}")
        if more <= 0:
            self.failures.append(f"{result.name}: nothing was measured after the resume")
        valid = told_by(self.hosts.environment, self.folder, "validate", str(result))
        self.failures += [valid.all] if valid.code else []


def torture(
    folder: Path, engine: str, count: int, seed: int, minutes: float, faults: list[str]
) -> Round:
    """Hit runs with each fault, in a random order, as often as the time allows."""
    moments, deadline = random.Random(seed), time.monotonic() + 60 * minutes
    deck = [fault for fault in faults for _ in range(count)]
    moments.shuffle(deck)
    with contextlib.ExitStack() as stack:
        hosts = stack.enter_context(lab(folder, HOSTS))
        kills_of_round = Round(hosts, folder, engine, seed, moments)
        tables = "".join(map(hosts.table, HOSTS))
        if engine == "dask":
            kills_of_round.dask, tables = (
                stack.enter_context(cluster(hosts, folder)),
                table(hosts, folder),
            )
        (folder / "code").mkdir()
        (folder / "code/mine.py").write_text(APP)
        (folder / "code/data.bin").write_bytes(moments.randbytes(BROUGHT))
        suite = one_server(LOAD_S, SERVER, LOADER, blocks=500) + tables
        (folder / "suite.toml").write_text(suite)
        kills_of_round.begin()
        for fault in deck:
            if time.monotonic() > deadline:
                break
            kills_of_round.hit(fault)
            if path := os.environ.get("KILLS_CSV"):
                append(Path(path), kills_of_round.kills[-1])
        kills_of_round.end()
    return kills_of_round


def _network(pid: int) -> Path:
    return Path(f"/proc/{pid}/ns/net").readlink()


def _show(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main(words: list[str]) -> int:
    """Torture as the words say."""
    folder, engine = Path(words[0]), words[1]
    folder.mkdir(parents=True, exist_ok=True)
    wanted = words[5:] or list(FAULTS[engine])
    came = torture(folder, engine, int(words[2]), int(words[3]), float(words[4]), wanted)
    sys.stdout.write(table_of_kills(came.kills))
    sys.stdout.write("".join(f"FAILED: {failure}\n" for failure in came.failures))
    return 1 if came.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
