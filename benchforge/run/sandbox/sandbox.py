"""One trial's place, seen from benchforge: what is started, waited for, asked and stopped in it."""

import contextlib
import dataclasses
import errno
import os
import re
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchforge.errors import KeeperSilent, NoAnswer, ProgramMissing, TrialFailed
from benchforge.parts.command import Command, Finished
from benchforge.parts.content import opened
from benchforge.run.locate import with_libraries
from benchforge.run.sandbox import listeners, procfs
from benchforge.run.sandbox.channel import Channel, Exit
from benchforge.run.sandbox.keeper import MOST_SOCKETS, below, family
from benchforge.run.sandbox.leftover_mark import KILLED_WITHIN_S
from benchforge.run.sandbox.procfs import descendants
from benchforge.run.sandbox.reach import SocketFiles, socket_files
from benchforge.text.readable import exact

Network = Literal["private", "host"]
_Reach = Literal["group", "tree", "others"]

_SPARE = 8  # sockets that are made together: most are used
_LOG_LINES = 20
_LOG_BYTES = 100_000
_TRACEBACK = re.compile(r"(?m)^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")


@dataclass(frozen=True)
class Mode:
    """What the trial's namespaces really are, and in words what they are not and why."""

    pid_namespace: bool
    network: Network
    shared_memory: Literal["private", "host"]
    "Shared memory of System V and POSIX: both are the trial's own, or one is the machine's."
    weaker: tuple[str, ...]
    files: Literal["private", "host"] = "host"
    "Files that programs can write: those that were named, or all of the user."
    sockets: Literal["private", "host"] = "host"
    "Sockets that programs can connect to by a path: the trial's and those named, or all."
    applied: Mapping[str, str] = field(default_factory=dict)
    "The tuning that holds, as it was read back, by its names in the suite."
    refused: Mapping[str, str] = field(default_factory=dict)
    "Reasons why other settings of the tuning are not in force."
    ports: int | None = None
    "Number of ports for outgoing connections; None if the kernel hides it."


@dataclass(frozen=True)
class Running:
    """A process that was started, with its pid inside and outside; `started` is monotonic, in s."""

    label: str
    pid: int
    outer_pid: int
    stdout: Path
    stderr: Path
    started: float
    command: Command = field(compare=False)
    "Command as it was started, with the libraries of an unpacked program."
    reaper: int = 0
    "Parent of the process and of its orphans, as seen from outside; 0 where there is none."


class Sandbox:
    """One trial's place: all that runs in it was started here, and ends with it.

    Each method raises TrialFailed when the trial's keeper was killed.
    """

    address = "127.0.0.1"
    "Where services listen: this, or the address of the host."
    temporary: str
    "Folder for temporary files of programs."
    spared: Sequence[Path] | None = None
    "Sockets of the machine that the suite names; None if all are in reach."
    covered: SocketFiles = frozenset()

    def __init__(self, channel: Channel, mode: Mode, init_pid: int) -> None:
        self.mode, self.init_pid = mode, init_pid
        self.init = os.pidfd_open(init_pid)  # readable once everything in the namespaces is dead
        self.left = 0  # how many processes had to be killed on leaving
        self.temporary = tempfile.gettempdir()
        self._channel = channel
        channel.halted = self._halted
        self._started: dict[int, Running] = {}
        self._ports: set[int] = set()

    def start(
        self,
        label: str,
        command: Command,
        folder: Path,
        environment: Mapping[str, str],
        cpus: Iterable[int] | None = None,
    ) -> Running:
        """Start a program; it prints to `folder/<label>.out` and `.err`, and works in `folder`.

        It sees PATH, HOME, LANG and TMPDIR, then `environment`, then the libraries of an unpacked
        program, then the command's own. `cpus` are the numbers of those that it may use. Raises
        ProgramMissing without such a program, TrialFailed where it does not start.
        """
        command, folder = with_libraries(command), folder.resolve()
        stdout, stderr = folder / f"{label}.out", folder / f"{label}.err"
        message = self._channel.ask(
            "start",
            argv=command.argv,
            environment={
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": os.environ.get("HOME", "/"),
                "LANG": "C.UTF-8",
                "TMPDIR": self.temporary,
                **environment,
                **command.environment,
            },
            folder=str(folder / (command.folder or "")),
            stdin=command.stdin and str(folder / command.stdin),
            stdout=str(stdout),
            stderr=str(stderr),
            ordinary_user=command.ordinary_user,
            cpus=None if cpus is None else sorted(cpus),
        )
        reply = message.body
        if "errno" in reply:
            raise _not_started(label, command, reply["step"], reply["errno"], reply["error"])
        if "weaker" in reply:
            weaker = (*self.mode.weaker, f"{label}: {reply['weaker']}")
            self.mode = dataclasses.replace(self.mode, weaker=weaker)
        pid = reply["pid"]
        outer_pid = message.sender if self.mode.pid_namespace else pid
        started, reaper = reply["started"], self._channel.reaper
        running = Running(label, pid, outer_pid, stdout, stderr, started, command, reaper)
        self._channel.exits.pop(pid, None)  # of an earlier process that had this number
        self._started[pid] = running
        return running

    def wait(
        self,
        running: Running,
        timeout_s: float,
        *,
        every_s: float | None = None,
        on_tick: Callable[[], object] = lambda: None,
    ) -> Finished | None:
        """Sleep until the process ends; None when it has not after `timeout_s` seconds.

        `on_tick` is called each `every_s` seconds meanwhile, and nothing else is done.
        """
        time_s = begun = time.monotonic()
        deadline = begun + timeout_s
        next_tick = deadline if every_s is None else begun + every_s
        while (finished := self.finished(running)) is None and time_s < deadline:
            self._channel.note_exits(min(next_tick, deadline))
            time_s = time.monotonic()
            if every_s is not None and time_s >= next_tick:
                on_tick()
                # On the beat whatever a tick costs; beats that are past are left out.
                time_s = time.monotonic()
                next_tick = begun + every_s * ((time_s - begun) // every_s + 1)
        return finished

    def finished(self, running: Running) -> Finished | None:
        """How the process ended, or None while it runs."""
        if running.pid not in self._channel.exits:
            self._channel.note_exits(0.0)
        if (end := self._channel.exits.get(running.pid)) is None:
            return None
        seconds = end.ended - running.started
        return Finished(end.code, running.stdout, running.stderr, seconds, end.user_s, end.system_s)

    def exit(self, running: Running) -> Exit | None:
        """What the process used until it ended, or None while it runs."""
        return None if self.finished(running) is None else self._channel.exits[running.pid]

    def cut(self, running: Running) -> tuple[Literal["stdout", "stderr"], ...]:
        """Of which streams only the first LARGEST_OUTPUT bytes are kept, of all it started too."""
        self._channel.note_exits(0.0)
        names: tuple[Literal["stdout", "stderr"], ...] = ("stdout", "stderr")
        return tuple(name for name in names if str(getattr(running, name)) in self._channel.cut)

    def alive(self, running: Running) -> bool:
        """Whether the process itself still runs."""
        return self.finished(running) is None

    def stop(
        self, running: Running, within_s: float = 5.0, first: signal.Signals = signal.SIGINT
    ) -> Finished:
        """End a process and all that it started: `first`, then TERM, to its group, then KILL.

        The two polite signals share `within_s` seconds. Raises NoAnswer when even KILL fails.
        """
        members = self.signal(running, 0, "tree")
        polite = dict.fromkeys((first, signal.SIGTERM)) if first != signal.SIGKILL else ()
        for number in polite:
            if not members:
                break
            self.signal(running, number, "group")
            if self._gone(running, members, within_s / len(polite)):
                break
        gone = self._gone(running, members, KILLED_WITHIN_S, signal.SIGKILL)
        finished = self.finished(running)
        if not gone or finished is None:
            raise NoAnswer(f"{running.label}: process {running.outer_pid} cannot be killed")
        return finished

    def signal(
        self, running: Running, number: int, to: _Reach = "tree", also: Sequence[int] = ()
    ) -> list[int]:
        """Send a signal, or none if it is 0; return the inner pids that it reached.

        They are those of a process and all that it started, of its group, or of all others here.
        """
        reply = self._channel.ask("signal", pid=running.pid, signal=int(number), to=to, also=also)
        return [int(pid) for pid in reply.body["signalled"]]

    def others(self, but: Running) -> list[int]:
        """The pids, as seen from outside, of all others than a process and what it started."""
        processes = family(descendants(self.init_pid))
        reapers = {running.reaper for running in self._started.values() if running.reaper}
        spared = {self.init_pid, *reapers, *below({but.outer_pid, but.reaper}, processes)}
        return sorted(below({self.init_pid}, processes) - spared)

    def run(
        self,
        label: str,
        command: Command,
        folder: Path,
        environment: Mapping[str, str],
        timeout_s: float,
    ) -> Finished:
        """Start a program and wait for its end. Raises as `start`; TrialFailed if it takes longer.

        After `timeout_s` seconds it is killed.
        """
        running = self.start(label, command, folder, environment)
        finished = self.wait(running, timeout_s)
        if finished is None:
            self.stop(running, first=signal.SIGKILL)
            message = f"{label}: {command.argv[0]} did not end within {exact(timeout_s)} s"
            hint = "give it more time, or see its log"
            raise TrialFailed("prepare", message, hint, complaint(running))
        return finished

    def processes(self, running: Running) -> list[int]:
        """The pids, as seen from outside, of the process, its session, orphans and descendants."""
        return procfs.tree(running.outer_pid, descendants(self.init_pid), running.reaper)

    def executable(self, running: Running) -> str | None:
        """The file that the process executes; None when it ended, or /proc hides it."""
        with contextlib.suppress(OSError):
            return str(Path(f"/proc/{running.outer_pid}/exe").readlink())
        return None

    def owns(self, running: Running, port: int) -> bool | None:
        """Whether a process of `running` listens on the TCP port; None when /proc hides it."""
        try:
            inodes = self._listening(port)
        except OSError:
            return None
        if not inodes:
            return False
        return procfs.holds(self.processes(running), inodes) or procfs.holds(
            procfs.tree(running.outer_pid), inodes
        )

    def _listening(self, port: int) -> set[str]:
        try:
            of_kernel = socket.AF_NETLINK, socket.SOCK_RAW, listeners.SOCK_DIAG
            with self.socket(*of_kernel, count=1) as netlink:
                return listeners.listening(netlink, port)
        except OSError:  # a kernel without, or a container that forbids it
            return procfs.listening(self.init_pid, port)

    def counters(self) -> dict[str, int]:
        """The network's counters, like "TcpPassiveOpens", or the host's. Raises OSError."""
        by_name: dict[str, int] = {}
        for file in ("snmp", "netstat"):
            lines = Path(f"/proc/{self.init_pid}/net/{file}").read_text().splitlines()
            for names, values in zip(lines[::2], lines[1::2], strict=True):
                group = names.partition(":")[0]
                pairs = zip(names.split()[1:], values.split()[1:], strict=True)
                by_name |= {f"{group}{name}": int(value) for name, value in pairs}
        return by_name

    def socket(
        self,
        family: socket.AddressFamily = socket.AF_INET,
        kind: socket.SocketKind = socket.SOCK_STREAM,
        protocol: int = 0,
        count: int = _SPARE,
    ) -> socket.socket:
        """Return a new socket inside the trial's network. Raises OSError if not allowed.

        `count` are made at once, for the next calls.
        """
        spare = self._channel.spare.setdefault((family, kind, protocol), [])
        if not spare:
            words = {"family": int(family), "type": int(kind), "protocol": protocol}
            message = self._channel.ask("socket", **words, count=min(count, MOST_SOCKETS))
            if "errno" in message.body:
                raise OSError(message.body["errno"], message.body["error"])
            spare += message.sockets
        if not spare:  # we had no descriptor left for them
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return spare.pop()

    def free_port(self) -> int:
        """Return a TCP port that is free where services listen, never the same twice in a trial."""
        while True:
            with self.socket() as inside:
                inside.bind((self.address, 0))
                port = int(inside.getsockname()[1])
            if port not in self._ports:
                self._ports.add(port)
                return port

    def _halted(self) -> KeeperSilent | None:
        """Why the keeper cannot answer, where the kernel tells."""
        if (by := procfs.halted(self.init_pid)) is None:
            return None
        if by == 0:
            return KeeperSilent("it was stopped")
        processes = family()
        for running in self._started.values():
            if by in below({running.outer_pid}, processes):
                return KeeperSilent(f"{running.label} traces it", by_the_trial=True)
        is_of_trial = by in below({self.init_pid}, processes)
        return KeeperSilent(f"process {by} traces it", by_the_trial=is_of_trial)

    def note_late_sockets(self) -> None:
        """Note sockets of the machine that were not there when the trial began: none is covered."""
        if self.spared is None:
            return
        if late := sorted({path for path, *_ in socket_files(self.spared) - self.covered}):
            line = f"sockets of the machine came up during the trial, in reach: {', '.join(late)}"
            self.mode = dataclasses.replace(self.mode, weaker=(*self.mode.weaker, line))

    def in_its_sessions(self) -> list[int]:
        """The pids, as seen from outside, of all in the sessions that were started here."""
        return procfs.of_sessions({running.outer_pid for running in self._started.values()})

    def _gone(self, running: Running, members: list[int], within_s: float, number: int = 0) -> bool:
        """Whether the process and `members` end within the time; `number` is sent to the rest."""
        deadline, pause_s = time.monotonic() + within_s, 0.001 if number else 0.005  # killed: soon
        while self.signal(running, number, "tree", members) or self.alive(running):
            if time.monotonic() >= deadline:
                return False
            self._channel.note_exits(min(deadline, time.monotonic() + pause_s))
        return True


def _not_started(
    label: str, command: Command, step: str, number: int, reason: str
) -> ProgramMissing | TrialFailed:
    program = command.argv[0]
    if step == "program" and number == errno.ENOENT:
        by_name = "install it, or put its folder on PATH"
        hint = "correct its path" if "/" in program else by_name
        return ProgramMissing(f"{label}: {program}: no such program", hint)
    hint = "install the interpreter that its first line names" if step == "interpreter" else ""
    return TrialFailed("start", f"{label}: {program}: {step}: {reason}", hint)


def complaint(process: Running | Finished) -> str:
    """The last lines of what a process complained of; of what it printed, if it did not."""
    return last_lines(process.stderr) or last_lines(process.stdout)


def last_lines(log: Path, count: int = _LOG_LINES) -> str:
    """The last lines of a log, "" where there is none."""
    try:
        with opened(log) as file:
            size, read = file.seek(0, os.SEEK_END), count * 1000
            file.seek(-min(size, read), os.SEEK_END)
            lines = file.read(read).decode(errors="replace").splitlines()
    except OSError:
        return ""
    if size > read:  # of a line that was cut nobody could tell a secret
        lines = lines[1:] or [f"(a line of more than {read} bytes)"]
    return "\n".join(lines[-count:])


def first_error(log: Path) -> str:
    """The line that ends a log's first Python traceback, which names the cause; "" without one."""
    try:
        with opened(log) as file:
            text = file.read(_LOG_BYTES).decode(errors="replace")
    except OSError:
        return ""
    match = _TRACEBACK.search(text)
    return match[1].strip() if match else ""
