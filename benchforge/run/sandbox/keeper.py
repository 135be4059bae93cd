"""One trial's keeper: a process that starts, watches and ends every other process of the trial.

Started by the host with `python -I -S` and the argument FD, or forked from such a process; standard
library only, one thread. FD is its end of a SOCK_SEQPACKET pair on which each message is one JSON
object; end-of-file on it means that benchforge is gone. The outer process only waits. The inner
one, pid 1 of the namespaces where they are allowed, starts each program below a reaper of its own:
a subreaper, to which all that the program leaves behind falls, daemons too. It serves the requests:

    {"id", "do": "start", "argv", "environment", "folder", "stdin", "stdout", "stderr",
     "ordinary_user", "cpus"}                        -> {"pid", "started"} or {"error", "errno"}
    {"id", "do": "signal", "pid", "signal", "to": "group" | "tree" | "others",
     "also": [pid]}                                  -> {"signalled": [pid]}
    {"id", "do": "socket", "family", "type", "protocol", "count"}
                                                     -> {} and sockets, made inside
    {"id", "do": "end"}                              -> {"left": how many had to be killed}

Pushed: {"reaper": pid} before the reply to a start; {"exit": pid, "code", "ended", "user_s",
"system_s", "voluntary", "involuntary", "major_faults"}, times in seconds, of the program and of
all that its reaper waited for until then;
{"cut": path} once a process has printed more into it than is kept.
"""
# ruff: noqa: PTH110, PTH116, PTH118, PTH123, PTH208, S606 - importing pathlib would cost more than all that is imported here

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
import time

from benchforge.run.sandbox import mounts

TYPE_CHECKING = False  # typing would cost as much as a namespace
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    JSON = dict[str, Any]
    Family = dict[int, tuple[int, int, int]]  # parent, group and session by pid
    Names = tuple[str, ...]

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC = 0x20000000, 0x40000000, 0x08000000
HOSTS = "/etc/hosts"
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
SCM_CREDENTIALS = 2
ORDINARY_ID, NOBODY_ID = 1000, 65534
LARGEST_MESSAGE = 1 << 20
MOST_SOCKETS = 64  # in a message
LARGEST_OUTPUT = 64 << 20  # bytes of a stream of a process; what it prints beyond is cut off
_USED = {  # what a process used, and how the kernel calls it
    "user_s": "ru_utime",
    "system_s": "ru_stime",
    "voluntary": "ru_nvcsw",
    "involuntary": "ru_nivcsw",
    "major_faults": "ru_majflt",
}
CUT_EVERY_MS = 100  # a flood is some hundred MB more, for that long
FIRST_SAFE_KERNEL = (5, 13)  # in a private network it lets nobody write what all networks share
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def _die_with_parent() -> None:
    mounts.kernel("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def enter_namespaces(options: JSON) -> JSON:
    """Unshare what the options want and the kernel allows; return both, with refusals."""
    pids, network = bool(options["pid_namespace"]), options["network"] == "private"
    own_pids = own_network = False
    weaker: list[str] = []
    for wanted in dict.fromkeys([(pids, network), (pids, False)]):
        if not any(wanted):
            break
        flags = CLONE_NEWNS | CLONE_NEWPID * wanted[0] | CLONE_NEWNET * wanted[1]
        if not (refused := _unshare(flags, as_user=True)):
            own_pids, own_network = wanted
            break
        weaker.append(f"no private {'network' if wanted[1] else 'process'} namespace: {refused}")
    inside = own_pids or own_network
    own_ipc = own_mounts = False
    if options["shared_memory"]:
        # By a call of its own, so that its refusal costs none of the others.
        flag = CLONE_NEWNS * (not inside)
        refused = _unshare(CLONE_NEWIPC | flag, as_user=not inside)
        own_ipc = own_mounts = not refused
        if refused:
            weaker.append(f"no private shared memory: {refused}")
            own_mounts = bool(flag) and not _unshare(flag, as_user=True)
    return {
        "pid_namespace": own_pids,
        "network": "private" if own_network else "host",
        "ipc": own_ipc,
        "mounts": inside or own_mounts,
        "weaker": weaker,
    }


def _unshare(flags: int, *, as_user: bool) -> str:
    """Unshare these, `as_user` in a user namespace too where nothing else helps; why not, or ""."""
    uid, gid = os.getuid(), os.getgid()
    reason = ""
    # Without a user namespace first: where we may, setuid and files of others work as outside.
    for user in (0, CLONE_NEWUSER) if as_user else (0,):
        try:
            mounts.kernel("unshare", flags | user)
        except OSError as refused:
            reason = str(refused)
            continue
        if user:
            _map_identity(f"{uid} {uid} 1", f"{gid} {gid} 1")
        return ""
    return reason


def _close_machine(options: JSON, own_mounts: bool, modes: JSON) -> None:
    """Keep the machine's files and sockets from the trial, as far as that is wanted and allowed."""
    covers = {"files": lambda wanted: mounts.close_files(**wanted), "sockets": mounts.cover_sockets}
    for name, cover in covers.items():
        if (wanted := options[name]) is None:
            modes[name] = "host"
            continue
        weaker = cover(wanted) if own_mounts else [f"no private {name}: no mount namespace"]
        modes[name] = "host" if weaker else "private"
        modes["weaker"] += weaker


def _map_identity(uid_map: str, gid_map: str) -> None:
    _write("/proc/self/setgroups", "deny")  # without it an ordinary user may not map a group
    _write("/proc/self/uid_map", uid_map)
    _write("/proc/self/gid_map", gid_map)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _raise_loopback() -> None:
    import fcntl  # noqa: PLC0415 - readers of results run without it

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def _file(sysctl: str) -> str:
    return "/proc/sys/" + sysctl.replace(".", "/")


def _open_sysctls(names: list[str]) -> dict[str, int]:
    """Hold on to the machine's own files, by name; opened so, nothing of them can be changed."""
    held: dict[str, int] = {}
    for name in names:
        with contextlib.suppress(OSError):
            held[name] = os.open(_file(name), os.O_PATH | os.O_CLOEXEC)
    return held


def _tune(options: JSON, machines: dict[str, int], own_network: bool) -> JSON:
    """Set what can be set; what was read back, and why the rest was not, by the suite's names."""
    applied: dict[str, str] = {}
    refused: dict[str, str] = {}
    for name, value in options["sysctls"].items():
        try:
            applied[f"sysctl.{name}"] = _set_sysctl(name, str(value), machines, own_network)
        except (OSError, ValueError) as error:
            refused[f"sysctl.{name}"] = _why(error)
    for name, value in options["limits"].items():
        try:
            applied[f"limits.{name}"] = _set_limit(name, value)
        except (OSError, ValueError, OverflowError) as error:
            refused[f"limits.{name}"] = _why(error)
    for descriptor in machines.values():
        os.close(descriptor)
    return {"applied": applied, "refused": refused, "ports": _ports()}


def _ports() -> int | None:
    """How many ports this network has for outgoing connections; only who is in it can read it."""
    try:
        first, last = map(int, _read("/proc/sys/net/ipv4/ip_local_port_range").split())
    except (OSError, ValueError):
        return None
    return last - first + 1


def _set_sysctl(name: str, value: str, machines: dict[str, int], own_network: bool) -> str:
    """Set one of the private network's own; ValueError for all that may be the machine's."""
    path = _file(name)
    if not name.startswith("net."):
        raise ValueError("not of a private network")
    if not own_network:
        raise ValueError("the trial uses the machine's own network")
    if tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) < FIRST_SAFE_KERNEL:
        raise ValueError("before Linux 5.13 it may be the machine's own")
    if not os.path.exists(path):
        problem = "not of a private network" if name in machines else "this kernel does not have it"
        raise ValueError(problem)
    if name not in machines or os.path.samestat(os.stat(path), os.fstat(machines[name])):
        raise ValueError("the machine's own is the same")
    if name == "net.ipv4.tcp_congestion_control":
        # Another one would be loaded as a module, for the whole machine.
        available = _read("/proc/sys/net/ipv4/tcp_available_congestion_control")
        if value not in available.split():
            raise ValueError(f"not loaded; the kernel has {', '.join(available.split())}")
    _write(path, value)
    if (holds := _read(path)) != " ".join(value.split()):
        raise ValueError(f"{holds} holds")
    return holds


def _set_limit(name: str, value: int) -> str:
    """Set a limit, soft and hard, of this process and of all that it starts."""
    import resource  # noqa: PLC0415 - most trials need none

    number = getattr(resource, f"RLIMIT_{name.upper()}")
    try:
        resource.setrlimit(number, (value, value))
    except (OSError, ValueError) as refused:
        soft, hard = resource.getrlimit(number)
        raise ValueError(f"{refused}: {soft} holds, {hard} is the highest allowed") from refused
    soft, _ = resource.getrlimit(number)
    return str(soft)


def _why(error: Exception) -> str:
    if isinstance(error, PermissionError):
        return "read-only in a private network"
    return os.strerror(error.errno or errno.EINVAL) if isinstance(error, OSError) else str(error)


def _read(path: str) -> str:
    with open(path) as file:
        return " ".join(file.read().split())


def stat_of(folder: str) -> list[bytes]:
    """The fields behind the name in the stat of a process or thread in /proc. Raises OSError."""
    with open(f"{folder}/stat", "rb", 0) as file:
        return file.read(4096).rpartition(b")")[2].split()


def family(pids: Iterable[int] = ()) -> Family:
    """Parent, group and session of `pids`, or of every process that /proc shows, by pid."""
    processes: Family = {}
    for name in map(str, pids or os.listdir("/proc")):
        if name.isdigit():
            with contextlib.suppress(OSError):
                _, parent, group, session, *_ = stat_of(f"/proc/{name}")
                processes[int(name)] = (int(parent), int(group), int(session))
    return processes


def below(roots: set[int], processes: Family) -> set[int]:
    """`roots` and all their descendants that live."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    reached: set[int] = set()
    pending = list(roots)
    while pending:
        pid = pending.pop()
        if pid not in reached:
            reached.add(pid)
            pending += children.get(pid, [])
    return reached & processes.keys()


def _tree(pid: int, reaper: int, also: list[int], reapers: Iterable[int]) -> list[int]:
    """All below a reaper, the group and session of `pid`, `also`, and the descendants of them."""
    processes = family()
    members = {pid_ for pid_, (_, group, session) in processes.items() if pid in (group, session)}
    descendants = below({os.getpid()}, processes) - {os.getpid(), *reapers}
    return sorted(below({pid, reaper, *members, *also}, processes) & descendants)


def _signalled(pids: Iterable[int], number: int) -> list[int]:
    """Signal processes, or groups by negative numbers; return those that it reached."""
    reached: list[int] = []
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            reached.append(pid)
    return reached


def _kill_all(reapers: Iterable[int] = ()) -> int:
    """Kill every process below this one and wait for each; how many ran, without the reapers."""
    killed: set[int] = set()
    while True:
        me = os.getpid()
        # As pid 1 in one call, which no fork escapes; else by name, until none is left.
        _signalled({-1} if me == 1 else below({me}, family()) - {me}, signal.SIGKILL)
        try:
            pid, status = os.wait()  # blocked: the next one to end says that it is time to look
            while pid != 0:
                if os.waitstatus_to_exitcode(status) == -signal.SIGKILL:
                    killed.add(pid)  # and did not end by itself before that
                pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return len(killed.difference(reapers))


def stands(pid: int) -> bool:
    """Whether all threads of a process have stopped or ended: a signal takes them a moment."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            if stat_of(f"/proc/{pid}/task/{task}")[0] not in b"TtZXx":
                return False
    return True


def _note_shared_memory(path: str, prefixes: Names, *, last: bool = False) -> None:
    """Write down what outlives all below this process, for whoever clears away after it.

    The first line has the kinds. At `last` all stand still: a running process may name more.
    """
    if not path or not prefixes:
        return
    me = os.getpid()
    pids, stopped = below({me}, family()) - {me}, set[int]()
    while last and (new := pids - stopped):
        _signalled(new, signal.SIGSTOP)
        deadline = time.monotonic() + 0.2  # one in the kernel may not stop
        while not all(map(stands, new)) and time.monotonic() < deadline:
            time.sleep(0.001)
        stopped |= new
        pids = below({me}, family()) - {me}
    with contextlib.suppress(OSError), open(path, "a+") as file:
        file.seek(0)
        if not (noted := set(file.read().splitlines())):
            file.write(f"{' '.join(prefixes)}\n")
        more = mounts.mapped(pids, prefixes) - noted
        file.writelines(f"{name}\n" for name in sorted(more))


def _start(request: JSON, exits: int) -> tuple[JSON, int, int]:
    """Fork a reaper, which forks and executes.

    Return the pid of the program, or why it does not run; the reaper, 0 if it ended; and the
    descriptor on whose closing the reaper waits for its children, so that pids last till then.
    """
    read_end, write_end = os.pipe()
    may_reap, go = os.pipe()
    reply: JSON = {"started": time.monotonic()}
    reaper = os.fork()
    if reaper == 0:
        _reap_below(request, write_end, may_reap, exits)
    os.close(write_end)
    os.close(may_reap)
    with open(read_end, "rb") as file:  # its end-of-file is the exec: every descriptor is CLOEXEC
        reported = file.read()
    for line in reported.splitlines():
        reply.update(json.loads(line))
    if "errno" in reply:
        os.close(go)
        os.waitpid(reaper, 0)
        reply.pop("pid", None)
        return reply, 0, -1
    return reply, reaper, go


def _reap_below(request: JSON, write_end: int, may_reap: int, exits: int) -> None:
    """In the child: start the program, and wait for it and for its orphans. Never returns."""
    try:
        _die_with_parent()
        mounts.kernel("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if (pid := os.fork()) == 0:
            _become(request, write_end)
        _report(write_end, {"pid": pid})
        os.close(write_end)
        if request["cpus"]:
            os.sched_setaffinity(0, request["cpus"])
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor not in {0, 1, 2, may_reap, exits}:
                with contextlib.suppress(OSError):  # that of the list is closed already
                    os.close(descriptor)
        os.read(may_reap, 1)
        _report_exit(pid, exits)
    except BaseException as error:  # noqa: BLE001 - a forked copy of the keeper must not live on
        with contextlib.suppress(OSError):
            _report(write_end, _reason("start", error))
    finally:
        os._exit(0)


def _report(write_end: int, message: JSON) -> None:
    """Write a line at once: the program and its reaper share a pipe, in either order."""
    os.write(write_end, json.dumps(message).encode() + b"\n")


def _report_exit(pid: int, exits: int) -> None:
    """Wait for all children until none is left; write how `pid` ended, and what all used so far."""
    used: dict[str, float] = dict.fromkeys(_USED, 0)
    with contextlib.suppress(ChildProcessError):
        while True:
            # Look first: a reaper that is killed meanwhile takes no exit with it.
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            ended, status, usage = os.wait4(-1, os.WNOHANG)
            used = {name: used[name] + getattr(usage, field) for name, field in _USED.items()}
            if ended == pid:
                _report(exits, _exit(pid, status, used))


def _exit(pid: int, status: int, used: dict[str, float]) -> JSON:
    code = os.waitstatus_to_exitcode(status)
    return {"exit": pid, "code": code, "ended": time.monotonic(), **used}


def _become(request: JSON, write_end: int) -> None:
    """In the child: become the program that was asked for. Never returns."""
    step = "start"
    try:
        os.setsid()
        for number in (*TERMINAL_SIGNALS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.umask(0o022)
        step = "input"
        _redirect(request["stdin"] or os.devnull, os.O_RDONLY, 0)
        step = "output"
        output = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW  # others may write there
        _redirect(request["stdout"], output, 1)
        _redirect(request["stderr"], output, 2)
        step = "cpus"
        if request["cpus"]:
            os.sched_setaffinity(0, request["cpus"])
        step = "folder"
        os.chdir(str(request["folder"]))
        step = "ordinary user"
        if request["ordinary_user"] and os.getuid() == 0:
            _leave_root(write_end)
        _die_with_parent()  # after the change of identity, which would clear it
        step = "program"
        _execute(request["argv"], request["environment"])
    except BaseException as error:  # noqa: BLE001 - a forked copy of the keeper must not live on
        _report(write_end, _reason(step, error))
    finally:
        os._exit(127)


def _reason(step: str, error: BaseException) -> JSON:
    number = errno.EINVAL
    if isinstance(error, OSError):
        number = error.errno or number
        if step == "program" and number == errno.ENOENT and os.path.exists(error.filename):
            step = "interpreter"  # what its first line names is what there is not
    return {"error": str(error), "errno": number, "step": step}


def _redirect(path: object, flags: int, descriptor: int) -> None:
    """Open a file as one of the standard streams; not what another process put in its place."""
    flags |= os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK  # of a pipe that nobody reads
    planted = OSError(errno.EINVAL, "another process put something there", str(path))
    try:
        opened = os.open(str(path), flags, 0o644)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise
        raise planted from error
    if path != os.devnull and not stat.S_ISREG(os.fstat(opened).st_mode):
        raise planted
    os.set_blocking(opened, True)
    os.dup2(opened, descriptor)
    os.close(opened)


def _leave_root(write_end: int) -> None:
    """Look like an ordinary user while files of root stay ours; or be nobody where that fails."""
    try:
        mounts.kernel("unshare", CLONE_NEWUSER)
    except OSError as refused:
        note = f"no user namespace ({refused}): the program runs as nobody, root's files are closed"
        _report(write_end, {"weaker": note})
        os.setgroups([])
        os.setgid(NOBODY_ID)
        os.setuid(NOBODY_ID)
    else:
        _map_identity(f"{ORDINARY_ID} 0 1", f"{ORDINARY_ID} 0 1")


def _execute(argv: list[str], environment: dict[str, str]) -> None:
    folders = environment.get("PATH", os.defpath).split(":")
    paths = [argv[0]] if "/" in argv[0] else [os.path.join(folder, argv[0]) for folder in folders]
    failure = OSError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
    for path in paths:
        try:
            os.execve(path, argv, environment)
        except OSError as error:
            if os.path.exists(path):  # there, and yet not executed: worth more than "not found"
                failure = error
    raise failure


class Keeper:
    """The inner process: answers requests, reports exits, reaps what no reaper is left for."""

    def __init__(
        self, channel: socket.socket, outer_lives: int, own_pids: bool, notes: str, outlives: Names
    ) -> None:
        self.channel, self.outer_lives, self.own_pids = channel, outer_lives, own_pids
        self.notes, self.outlives = notes, outlives
        self.started: set[int] = set()
        self.reapers: dict[int, int] = {}  # that of each program, while it lives
        self.exits, self.exit = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.exits, False)
        self.outputs: dict[str, int] = {}  # descriptors by path, of who ended too: it may have kin
        self.cut: set[str] = set()
        self.woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def serve(self) -> None:
        """Return when benchforge asked for the end, or is gone; everything is dead then."""
        poll = select.poll()
        for readable in (self.channel.fileno(), self.outer_lives, self.woken, self.exits):
            poll.register(readable, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll(CUT_EVERY_MS if self.outputs else None)}
            self._cut()
            if self.outer_lives in ready:
                self._end()
                break
            if self.exits in ready:
                self._hear()
            if self.woken in ready:
                os.read(self.woken, 4096)
                self._reap()
            if self.channel.fileno() in ready and not self._answer():
                break
        self._cut()

    def say(self, message: JSON, *, sender: int = 0, descriptors: tuple[int, ...] = ()) -> None:
        """Send one message; benchforge being gone is seen by the next read."""
        ancillary: list[tuple[int, int, bytes]] = []
        if descriptors:
            packed = struct.pack(f"{len(descriptors)}i", *descriptors)
            ancillary.append((socket.SOL_SOCKET, socket.SCM_RIGHTS, packed))
        if sender and self.own_pids:
            # The kernel translates this pid into the one that benchforge sees from outside.
            packed = struct.pack("3i", sender, os.getuid(), os.getgid())
            ancillary.append((socket.SOL_SOCKET, SCM_CREDENTIALS, packed))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.channel.sendmsg([json.dumps(message).encode()], ancillary)

    def _answer(self) -> bool:
        """Serve one request; False when it was the last."""
        try:
            received = self.channel.recv(LARGEST_MESSAGE)
        except ConnectionResetError:
            received = b""
        if not received:
            self._end()
            return False
        request = json.loads(received)
        answer = {"id": request["id"]}
        if request["do"] == "end":
            self._reap()
            survivors = self._end()
            self._cut()
            self.say(answer | {"left": survivors})
            return False
        try:
            self._serve(request, answer)
        except OSError as error:  # no memory for a fork, no descriptor for a socket
            self.say(answer | {"error": str(error), "errno": error.errno, "step": "keeper"})
        return True

    def _end(self) -> int:
        _note_shared_memory(self.notes, self.outlives, last=True)
        return _kill_all(self.reapers.values())

    def _serve(self, request: JSON, answer: JSON) -> None:
        # Before anything ends, and while a service is asked again and again whether it is ready.
        _note_shared_memory(self.notes, self.outlives)
        match request["do"]:
            case "start":
                reply, reaper, go = _start(request, self.exit)
                if reaper:
                    self.started.add(reply["pid"])
                    self.reapers[reply["pid"]] = reaper
                    self._watch(request["stdout"], request["stderr"])
                    # With pids of its own the sender is the reaper as seen from outside.
                    self.say({"reaper": 0 if self.own_pids else reaper}, sender=reaper)
                self.say(answer | reply, sender=reply.get("pid", 0))
                if reaper:
                    os.close(go)
            case "signal":
                self.say(answer | {"signalled": self._signal(request)})
            case "socket":
                words = request["family"], request["type"], request["protocol"]
                with contextlib.ExitStack() as made:
                    descriptors = [made.enter_context(socket.socket(*words)).fileno()]
                    with contextlib.suppress(OSError):  # a tuned limit may allow no more
                        while len(descriptors) < request["count"]:
                            descriptors.append(made.enter_context(socket.socket(*words)).fileno())
                    self.say(answer, descriptors=tuple(descriptors))

    def _signal(self, request: JSON) -> list[int]:
        pid: int = request["pid"]
        number, reach = request["signal"], request["to"]
        reaper = self.reapers.get(pid, pid)
        if reach == "tree":
            targets = _tree(pid, reaper, request.get("also", []), self.reapers.values())
            if number == signal.SIGKILL and reaper != pid:
                os.kill(reaper, signal.SIGCONT)  # a program may have stopped it
        elif reach == "others":
            return self._signal_others(number, pid, reaper)
        else:
            table = family() if reaper != pid else {}
            fell = {key for key, tie in table.items() if tie[0] == reaper and tie[1] != pid}
            targets = [-pid, *fell]
        return _signalled(targets, number)

    def _signal_others(self, number: int, pid: int, reaper: int) -> list[int]:
        """Signal all below this process but one program's tree, until none is new."""
        reached: set[int] = set()
        while True:
            processes = family()
            spared = {os.getpid(), *self.reapers.values(), *below({pid, reaper}, processes)}
            new = below({os.getpid()}, processes) - spared - reached
            if not new:
                return sorted(reached)
            reached |= new
            _signalled(new, number)

    def _watch(self, *paths: str) -> None:
        for path in paths:
            if path not in self.outputs:
                with contextlib.suppress(OSError):  # a pipe without a reader has no size either
                    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
                    flags |= os.O_NOFOLLOW
                    self.outputs[path] = os.open(path, flags)

    def _cut(self) -> None:
        """Cut off what is printed beyond the bound; who prints goes on behind the cut."""
        for path, descriptor in self.outputs.items():
            # A limit of the kernel would hold for a database's own files too, and kill.
            if os.fstat(descriptor).st_size > LARGEST_OUTPUT:
                os.ftruncate(descriptor, LARGEST_OUTPUT)
                if path not in self.cut:
                    self.cut.add(path)
                    self.say({"cut": path})

    def _hear(self) -> None:
        """Pass on the exits that reapers wrote: whole lines, since each is a short one."""
        with contextlib.suppress(BlockingIOError):
            for line in os.read(self.exits, 1 << 16).splitlines():
                self._exited(json.loads(line))

    def _exited(self, message: JSON) -> None:
        if message["exit"] in self.started:
            self.started.discard(message["exit"])
            self.say(message)

    def _reap(self) -> None:
        """Wait for reapers that are done, and for what they left if they were killed."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.wait4(-1, os.WNOHANG))[0]:
                pid, status, usage = ended
                self.reapers = {key: child for key, child in self.reapers.items() if child != pid}
                used = {name: getattr(usage, field) for name, field in _USED.items()}
                self._hear()  # what a reaper wrote before it ended
                self._exited(_exit(pid, status, used))


def _inner(
    channel: socket.socket, outer_lives: int, options: JSON, machines: dict[str, int], modes: JSON
) -> None:
    own_pids, own_network = modes["pid_namespace"], modes["network"] == "private"
    own_system_v, own_mounts = modes.pop("ipc"), modes.pop("mounts")
    if not (outer_said := os.read(outer_lives, 20)):
        return  # the outer one was killed first
    seen_from_outside = int(outer_said)
    modes |= _tune(options, machines, own_network)  # while /proc is the one that was opened
    if own_pids:
        # pid 1 takes all others with it. A death before this line is an end-of-file in serve().
        _die_with_parent()
    else:
        mounts.kernel("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if own_mounts:
        mounts.mount("none", "/", None, mounts.MS_REC_PRIVATE)
    if own_pids:
        mounts.mount("none", "/proc", "proc", mounts.MS_NOSUID_NODEV_NOEXEC)
    if own_network:
        _raise_loopback()
    if own_mounts and options["hosts"]:
        with contextlib.suppress(OSError):  # who needs the names tries them
            mounts.mount(options["hosts"], HOSTS, None, mounts.MS_BIND)
    own_posix = own_mounts
    if own_mounts:
        try:
            mounts.cover_shared_memory()
        except OSError as refused:
            modes["weaker"].append(f"no private {mounts.SHARED_MEMORY}: {refused}")
            own_posix = False
    modes["shared_memory"] = "private" if own_system_v and own_posix else "host"
    _close_machine(options, own_mounts, modes)
    if own_pids:  # what it starts sees it: no ordinary user may trace it, or read what it holds
        mounts.kernel("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
    owns = (own_system_v, own_posix)
    outlives = tuple(name for name, mine in zip(mounts.OUTLIVES, owns, strict=True) if not mine)
    keeper = Keeper(channel, outer_lives, own_pids, options["notes"], outlives)
    keeper.say({**modes, "ready": True, "init": seen_from_outside})
    keeper.serve()


def main() -> None:
    """Keep a trial; with a second argument, fork a keeper for each trial until benchforge ends."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if sys.argv[2:]:
        _fork_keepers(channel)
    else:
        _keep(channel)


def _fork_keepers(orders: socket.socket) -> None:
    """Fork a keeper for each pair of descriptors: its channel, and the file of its errors."""
    import fcntl  # noqa: F401, PLC0415 - once: each copy needs it

    _die_with_parent()
    while True:
        order, descriptors, _, _ = socket.recv_fds(orders, 20, 2, socket.MSG_CMSG_CLOEXEC)
        with contextlib.suppress(ChildProcessError):  # until now the pids of those that ended last
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not descriptors:
            return
        if (pid := os.fork()) == 0:
            try:
                orders.close()
                os.setsid()
                os.dup2(descriptors[1], 2)
                os.close(descriptors[1])
                _keep(socket.socket(fileno=descriptors[0]))
            except BaseException as error:  # noqa: BLE001 - a forked copy must not live on
                sys.excepthook(type(error), error, error.__traceback__)
            finally:
                os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        orders.send(b"%b %d" % (order, pid))


def _keep(channel: socket.socket) -> None:
    """Enter the namespaces, fork, and wait: as pid 1's parent, or as the last to clear away."""
    received = channel.recv(LARGEST_MESSAGE)
    if not received:
        return
    options: JSON = json.loads(received)
    machines = _open_sysctls(list(options["sysctls"]))
    try:
        modes = enter_namespaces(options)
    except OSError as error:  # half-way in, no way back: the host starts a weaker one
        channel.send(json.dumps({"ready": False, "error": str(error)}).encode())
        return
    own_pids, outlives = modes["pid_namespace"], () if modes["ipc"] else mounts.OUTLIVES
    _die_with_parent()  # after unshare, which may clear it; end-of-file covers the time before
    if not own_pids:
        mounts.kernel("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    outer_lives, outer = os.pipe()
    inner = os.fork()
    if inner == 0:
        os.close(outer)
        try:
            _inner(channel, outer_lives, options, machines, modes)
        except OSError as error:
            channel.send(json.dumps({"ready": False, "error": str(error)}).encode())
        os._exit(0)
    channel.close()
    os.write(outer, str(inner).encode())
    os.waitpid(inner, 0)
    if not own_pids:
        # Someone killed the inner one: what it kept is re-parented to this one.
        _note_shared_memory(options["notes"], outlives, last=True)
        _kill_all()


if __name__ == "__main__":
    main()
