"""Where processes run: the only module, besides the keeper, that starts any."""

import contextlib
import dataclasses
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import IO, Protocol

from benchforge.errors import NoAnswer, TrialFailed
from benchforge.run import keeper, marks
from benchforge.run.channel import Channel
from benchforge.run.here import KILLED_WITHIN_S, Here, Mode, Network, Running, last_lines

__all__ = ["Here", "Host", "LocalHost", "Mode", "Network", "Running", "last_lines"]

# Imported, not run as a script: Python keeps what it compiled of modules only.
_KEEPER = (
    f"import sys; sys.path.append({str(Path(keeper.__file__).parent)!r}); "
    "import keeper; keeper.main()"
)
_NO_SYSCTLS: Mapping[str, int | str] = MappingProxyType({})
_NO_LIMITS: Mapping[str, int] = MappingProxyType({})


class Host(Protocol):
    """Where trials run."""

    def trial(
        self,
        folder: Path,
        network: Network = "private",
        sysctls: Mapping[str, int | str] = _NO_SYSCTLS,
        limits: Mapping[str, int] = _NO_LIMITS,
    ) -> AbstractContextManager[Here]:
        """Give a place for one trial, whose own log is kept in `folder`.

        `sysctls` are set in a private network, `limits` for every process: `mode` of the place
        says what came of each. Raises TrialFailed when there can be no place; on leaving, NoAnswer
        when a process could not be ended.
        """
        ...


class LocalHost:
    """This machine. Enter trials from the main thread: a keeper ends with the thread it is from."""

    @contextlib.contextmanager
    def trial(
        self,
        folder: Path,
        network: Network = "private",
        sysctls: Mapping[str, int | str] = _NO_SYSCTLS,
        limits: Mapping[str, int] = _NO_LIMITS,
    ) -> Iterator[Here]:
        """Give a place for one trial: see Host."""
        wishes = {
            "pid_namespace": True,
            "network": network,
            "sysctls": dict(sysctls),
            "limits": dict(limits),
        }
        folder.mkdir(exist_ok=True)  # not its parents: a result that was removed stays so
        with contextlib.ExitStack() as stack:
            try:
                here = stack.enter_context(_kept(folder, wishes))
            except _HalfWayError as refused:
                wishes |= {"pid_namespace": False, "network": "host"}
                here = stack.enter_context(_kept(folder, wishes))
                weaker = (f"no private namespaces: {refused}", *here.mode.weaker)
                here.mode = dataclasses.replace(here.mode, weaker=weaker)
            yield here


class _HalfWayError(Exception):
    """The keeper is inside namespaces that cannot be used, and has ended."""


@contextlib.contextmanager
def _kept(folder: Path, wishes: Mapping[str, object]) -> Iterator[Here]:
    """Start a keeper; on leaving, end all that it keeps and see that it is gone."""
    log = folder / "keeper.err"
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with Channel(ours) as channel:
        with theirs, log.open("wb") as stderr:
            process = _keeper_process(theirs, stderr)
            mark = marks.mark(process.pid)
        try:
            here = _greeted(channel, wishes, log)
            if mark is None and not here.mode.pid_namespace:
                unknown = "no mark either: who kills the keeper too leaves processes for ever"
                here.mode = dataclasses.replace(here.mode, weaker=(*here.mode.weaker, unknown))
            try:
                yield here
            except BaseException as error:
                for fault in _end(here, channel, process, mark):
                    error.add_note(fault)
                raise
            if faults := _end(here, channel, process, mark):
                raise NoAnswer("; ".join(faults), "end what still runs before you measure again")
        finally:
            channel.close()  # end-of-file: whatever went wrong above, the keeper ends
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILLED_WITHIN_S)
            if not log.stat().st_size:
                log.unlink()


def _keeper_process(theirs: socket.socket, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _KEEPER, str(theirs.fileno())],
        pass_fds=(theirs.fileno(),),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        cwd="/",
        start_new_session=True,  # Ctrl-C goes to benchforge, which decides
    )


def _greeted(channel: Channel, wishes: Mapping[str, object], log: Path) -> Here:
    try:
        channel.send(wishes)
        greeting = channel.greeting()
    except TrialFailed as error:
        error.log = last_lines(log)
        raise
    if not greeting["ready"]:
        raise _HalfWayError(greeting["error"])
    mode = Mode(
        greeting["pid_namespace"],
        greeting["network"],
        tuple(greeting["weaker"]),
        greeting["applied"],
        greeting["refused"],
        greeting["ports"],
    )
    try:
        return Here(channel, mode, greeting["init"])
    except ProcessLookupError as error:
        raise TrialFailed("start", "the trial's keeper was killed as it started") from error


def _end(
    here: Here, channel: Channel, process: subprocess.Popen[bytes], mark: int | None
) -> list[str]:
    """Have the keeper end everything and itself; say what is left all the same."""
    with contextlib.suppress(TrialFailed, TimeoutError):  # it may have been killed before us
        here.left = channel.ask("end", within_s=KILLED_WITHIN_S).body["left"]
    channel.close()
    faults: list[str] = []
    try:
        process.wait(KILLED_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        faults.append(f"the keeper of the trial, process {process.pid}, did not end")
    # Without namespaces the inner process may outlive the outer one while it clears away.
    if not select.select([here.init], [], [], KILLED_WITHIN_S)[0]:
        faults.append(f"process {here.init_pid} still keeps processes of the trial")
    os.close(here.init)
    if here.mode.pid_namespace:
        return faults
    # The keeper may have been killed: what it kept is known by its mark, or else by its session.
    left = marks.ended(mark, KILLED_WITHIN_S) if mark is not None else here.in_its_sessions()
    if left:
        faults.append(f"processes of the trial still run: {left}")
    return faults
