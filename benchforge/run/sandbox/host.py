"""Places for trials: the only module, besides the keeper, that starts processes."""

import contextlib
import dataclasses
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Protocol

from benchforge.errors import KeeperGone, KeeperSilent, NoAnswer, TrialFailed
from benchforge.run.sandbox import keeper, leftover_mark, reach, shared_memory
from benchforge.run.sandbox.channel import ANSWERS_WITHIN_S, Channel
from benchforge.run.sandbox.keeper import below, family
from benchforge.run.sandbox.leftover_mark import KILLED_WITHIN_S
from benchforge.run.sandbox.sandbox import Mode, Network, Running, Sandbox, last_lines

__all__ = ["Host", "LocalHost", "Mode", "Network", "Running", "Sandbox", "Wishes", "last_lines"]

# Imported, not run as a script: Python keeps what it compiled of modules only.
_KEEPER = (
    f"import sys; sys.path.append({str(Path(keeper.__file__).parents[3])!r}); "
    "from benchforge.run.sandbox import keeper; keeper.main()"
)
_TEMPORARY = "tmp"  # folder of scratch
# What an interpreter needs to start. A program of root can read the environment of its keeper.
_NEEDED = ("LD_LIBRARY_PATH", "PATH", "LANG")
# What is not asked for any more where a keeper was refused half-way, step by step.
_LESS: tuple[Mapping[str, object], ...] = (
    {},
    {"pid_namespace": False, "network": "host"},
    {"shared_memory": False},
)


@dataclass(frozen=True)
class Wishes:
    """What a trial needs of its place: its `mode` says what came of each."""

    sysctls: Mapping[str, int | str] = field(default_factory=dict)
    "Settings of a private network."
    limits: Mapping[str, int] = field(default_factory=dict)
    "Limits of every process."
    scratch: Path | None = None
    "Folder for a hosts file, and for names of shared memory that may outlive the trial."
    names: Sequence[str] = ()
    "Names of the place's own address in the hosts file."
    sockets: Sequence[Path] = ()
    "Sockets of the machine, and folders of them, that programs in a private network may use."
    writes: Sequence[Path] | None = None
    "Folders that programs may write, besides the trial's own and `scratch`; None for all."
    copied: Sequence[Path] = ()
    "Folders that programs may write without changing them: what they write goes with the trial."


NO_WISHES = Wishes()


class Host(Protocol):
    """Where trials run."""

    def trial(
        self, folder: Path, network: Network = "private", wishes: Wishes = NO_WISHES
    ) -> AbstractContextManager[Sandbox]:
        """Give a place for one trial, whose own log is kept in `folder`.

        Raises TrialFailed without a place; on leaving, NoAnswer if a process could not be ended.
        """
        ...

    def many(self) -> AbstractContextManager[None]:
        """Expect many trials: what each needs before it has a place of its own is done once."""
        ...


class LocalHost:
    """This machine. Enter trials from the main thread: a keeper ends with the thread it is from."""

    def __init__(self) -> None:
        self._forks: _Forks | None = None

    @contextlib.contextmanager
    def many(self) -> Iterator[None]:
        """Have one process fork the keepers of all trials meanwhile: see Host."""
        local_end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = _started(theirs, subprocess.DEVNULL, "many")
        with process, local_end:
            self._forks = _Forks(process, local_end)
            try:
                yield
            finally:
                self._forks = None
                process.kill()  # no trial is left

    @contextlib.contextmanager
    def trial(
        self, folder: Path, network: Network = "private", wishes: Wishes = NO_WISHES
    ) -> Iterator[Sandbox]:
        """Give a place for one trial: see Host."""
        scratch = wishes.scratch
        covered = reach.socket_files(wishes.sockets) if network == "private" else None
        files, open_to_all = _files(folder, wishes)
        options: dict[str, object] = {
            "pid_namespace": True,
            "network": network,
            "shared_memory": True,
            "sysctls": dict(wishes.sysctls),
            "limits": dict(wishes.limits),
            "notes": "" if scratch is None else str(scratch / shared_memory.NOTES),
            "hosts": "" if scratch is None else _hosts_file(scratch, wishes.names),
            "files": files,
            "sockets": None if covered is None else sorted(path for path, *_ in covered),
        }
        folder.mkdir(exist_ok=True)  # not its parents: a result that was removed stays so
        with contextlib.ExitStack() as stack:
            weaker: tuple[str, ...] = open_to_all
            for left_out in _LESS:
                options |= left_out
                try:
                    sandbox = stack.enter_context(_kept(folder, options, scratch, self._forks))
                except _HalfWayError as refused:
                    weaker = (*weaker, f"no private namespaces: {refused}")
                else:
                    break
            else:
                raise TrialFailed("start", f"no keeper can start: {'; '.join(weaker)}")
            weaker = (*weaker, *sandbox.mode.weaker)
            files_of = "host" if open_to_all else sandbox.mode.files
            sandbox.mode = dataclasses.replace(sandbox.mode, weaker=weaker, files=files_of)
            if files is not None and scratch is not None:
                sandbox.temporary = str(scratch / _TEMPORARY)
            if covered is not None:
                sandbox.spared, sandbox.covered = wishes.sockets, covered
            yield sandbox


def _files(folder: Path, wishes: Wishes) -> tuple[dict[str, object] | None, tuple[str, ...]]:
    """Return what the keeper needs to close all files but some; and what is weaker, and why."""
    if wishes.writes is None or wishes.scratch is None:
        return None, ()
    writes = [path.resolve() for path in (folder, wishes.scratch, *wishes.writes)]
    (wishes.scratch / _TEMPORARY).mkdir(0o700)
    copied: list[Path] = []
    for path in sorted({path.resolve() for path in wishes.copied if path.is_dir()}):
        if not any(path.is_relative_to(other) for other in (*copied, *writes)):
            copied.append(path)
    mounts = reach.mounts()
    hidden = {path for path in copied if any(path in Path(mount).parents for mount in mounts)}
    notes = [f"programs may change files in {path}: mounts below allow no layer" for path in hidden]
    files: dict[str, object] = {
        "writes": [str(path) for path in (*writes, *hidden)],
        "copied": [str(path) for path in copied if path not in hidden],
        "scratch": str(wishes.scratch),
    }
    return files, tuple(notes)


def _hosts_file(scratch: Path, names: Sequence[str]) -> str:
    """Write the machine's hosts file behind a line with `names`; return its path."""
    machines, hosts_file = Path(keeper.HOSTS), scratch / "hosts"
    more = machines.read_bytes() if machines.is_file() else b""
    hosts_file.write_bytes(f"{Sandbox.address} {' '.join(names)}\n".encode() * bool(names) + more)
    hosts_file.chmod(0o644)  # for programs that run as another user
    return str(hosts_file)


class _HalfWayError(Exception):
    """The keeper is inside namespaces that cannot be used, and has ended."""


class _Forks:
    """A process that forks keepers. It sleeps in between, and knows nothing of a trial."""

    def __init__(self, process: subprocess.Popen[bytes], orders: socket.socket) -> None:
        self._process, self._orders, self._number = process, orders, 0

    def forked(self, theirs: socket.socket, stderr: IO[bytes]) -> int | None:
        """Return the pid of a new keeper; None where the process was killed, or does not answer."""
        self._number += 1  # a reply may be that of an order which was interrupted
        order = b"%d" % self._number
        self._orders.settimeout(ANSWERS_WITHIN_S)
        with contextlib.suppress(OSError):
            socket.send_fds(self._orders, [order], [theirs.fileno(), stderr.fileno()])
            while reply := self._orders.recv(100).split():
                if reply[0] == order:
                    return int(reply[1])
        self._process.kill()  # stopped, perhaps: it would go on with the order later
        return None


class _Keeper:
    """The outer process of a keeper: a child of ours, or of the process that forks them."""

    def __init__(self, stderr: IO[bytes], forks: _Forks | None) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            pid = forks.forked(theirs, stderr) if forks else None
        if pid is None:  # who was forked all the same gets an end-of-file
            self.ours.close()
            self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._child = _started(theirs, stderr)
            pid = self._child.pid
        self.pid = pid
        try:
            self.lives = os.pidfd_open(pid)  # nobody has waited for it yet
            self.mark = leftover_mark.mark(pid)
        except (ProcessLookupError, FileNotFoundError) as error:  # killed, with its parent
            self.ours.close()
            raise KeeperGone from error

    def ended(self) -> bool:
        """Whether it ends within KILLED_WITHIN_S; Popen's wait looks at longer intervals."""
        if not select.select([self.lives], [], [], KILLED_WITHIN_S)[0]:
            return False
        if self._child is not None:
            self._child.wait()
        return True

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.lives, signal.SIGKILL)


@contextlib.contextmanager
def _kept(
    folder: Path, wishes: Mapping[str, object], scratch: Path | None, forks: _Forks | None
) -> Iterator[Sandbox]:
    """Start a keeper; on leaving, end all that it keeps and see that it is gone."""
    log = folder / "keeper.err"
    with log.open("wb") as stderr:
        process = _Keeper(stderr, forks)
    channel = Channel(process.ours)
    try:
        sandbox = _greeted(channel, wishes, log)
        if process.mark is None and not sandbox.mode.pid_namespace:
            lost = "no mark either: processes remain if the keeper is killed, too"
            sandbox.mode = dataclasses.replace(sandbox.mode, weaker=(*sandbox.mode.weaker, lost))
        try:
            yield sandbox
        except BaseException as error:
            for fault in _end(sandbox, channel, process):
                error.add_note(fault)
            raise
        if faults := _end(sandbox, channel, process):
            hint = "stop the remaining processes before you measure again"
            raise NoAnswer("; ".join(faults), hint)
    finally:
        channel.close()  # end-of-file: whatever went wrong above, the keeper ends
        process.ended()
        os.close(process.lives)
        if scratch is not None:  # each name in it is of what is not the trial's own
            shared_memory.removed(shared_memory.noted(scratch))
        if not log.stat().st_size:
            log.unlink()


def _started(end: socket.socket, stderr: IO[bytes] | int, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _KEEPER, str(end.fileno()), *words],
        pass_fds=(end.fileno(),),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        cwd="/",
        env={name: os.environ[name] for name in _NEEDED if name in os.environ},
        start_new_session=True,  # Ctrl-C goes to benchforge, which decides
    )


def _greeted(channel: Channel, wishes: Mapping[str, object], log: Path) -> Sandbox:
    try:
        channel.send(wishes)
        greeting = channel.greeting()
    except TrialFailed as error:
        error.log = last_lines(log)
        raise
    if not greeting["ready"]:
        raise _HalfWayError(greeting["error"])
    entered = {each.name: greeting[each.name] for each in dataclasses.fields(Mode)}
    mode = Mode(**{**entered, "weaker": (*greeting["weaker"],)})
    try:
        return Sandbox(channel, mode, greeting["init"])
    except ProcessLookupError as error:
        raise TrialFailed("start", "the trial's keeper was killed as it started") from error


def _end(sandbox: Sandbox, channel: Channel, process: _Keeper) -> list[str]:
    """Have the keeper end everything and itself; say what is left all the same."""
    try:
        sandbox.left = channel.ask("end", within_s=KILLED_WITHIN_S).body["left"]
    except KeeperSilent:

        def rest() -> list[int]:  # tracers too: they can keep it from ending
            gone = select.select([sandbox.init], [], [], 0)[0]
            return [] if gone else [*below({process.pid, sandbox.init_pid}, family())]

        leftover_mark.ended(rest, lambda pid: pid in rest())
    except TrialFailed:  # it was killed before us
        pass
    channel.close()
    faults: list[str] = []
    if not process.ended():
        process.kill()  # stopped, perhaps: that ends no process, and a kill does
        if not process.ended():
            faults.append(f"the keeper of the trial, process {process.pid}, did not end")
    # Without namespaces the inner process may outlive the outer one while it clears away.
    if not select.select([sandbox.init], [], [], KILLED_WITHIN_S)[0]:
        faults.append(f"process {sandbox.init_pid} still keeps processes of the trial")
    os.close(sandbox.init)
    if sandbox.mode.pid_namespace:
        return faults
    # The keeper may have been killed: what it kept is known by its mark, or else by its session.
    if process.mark is None:
        survivors = sandbox.in_its_sessions()
    else:
        carriers = partial(leftover_mark.carriers, process.mark)
        _, survivors = leftover_mark.ended(carriers)
    if survivors:
        faults.append(f"processes of the trial still run: {survivors}")
    return faults
