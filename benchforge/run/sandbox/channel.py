"""The conversation with one keeper: requests, their replies, and the exits that it reports."""

import itertools
import json
import math
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchforge.errors import KeeperGone, KeeperSilent, TrialFailed
from benchforge.run.sandbox.keeper import LARGEST_MESSAGE, MOST_SOCKETS, SCM_CREDENTIALS
from benchforge.text.readable import exact

ANSWERS_WITHIN_S = 60.0  # it takes milliseconds, where nothing is wrong
LOOK_EVERY_S, LOOKS = 1.0, 3  # halted at so many looks in a row: who traces it stops it
_DESCRIPTOR, _CREDENTIALS = struct.Struct("i"), struct.Struct("3i")
_ANCILLARY = socket.CMSG_SPACE(MOST_SOCKETS * _DESCRIPTOR.size)
_ANCILLARY += socket.CMSG_SPACE(_CREDENTIALS.size)


class Message(NamedTuple):
    """A message of the keeper; `sender` is the pid that it is about, as seen from here."""

    body: Mapping[str, Any]
    sender: int = 0
    sockets: tuple[socket.socket, ...] = ()


class Exit(NamedTuple):
    """How a process ended: `ended` on the monotonic clock, CPU times in seconds.

    It includes children that it waited for, and orphans that ended earlier.
    """

    code: int
    ended: float
    user_s: float
    system_s: float
    voluntary: int
    "Context switches in which it waited for something."
    involuntary: int
    major_faults: int


@dataclass
class Channel:
    """Our end of the socket. Closing it makes the keeper end everything that it keeps."""

    ours: socket.socket
    exits: dict[int, Exit] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    "The files of which the rest was cut off."
    spare: dict[tuple[int, int, int], list[socket.socket]] = field(default_factory=dict)
    "Sockets that were sent, and that nobody uses yet, by family, kind and protocol."
    reaper: int = 0
    "The reaper of the process that was started last, as seen from here."
    halted: Callable[[], KeeperSilent | None] = lambda: None
    "Looks whether the keeper is kept from running."
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._poll = select.poll()
        self._poll.register(self.ours, select.POLLIN)

    def close(self) -> None:
        """Close all sockets; twice does no harm."""
        for mine in (self.ours, *itertools.chain(*self.spare.values())):
            mine.close()

    def send(self, message: Mapping[str, object]) -> None:
        """Send one message. Raises KeeperGone, and TrialFailed when it is too long."""
        try:
            self.ours.send(json.dumps(message).encode())
        except (BrokenPipeError, ConnectionResetError) as error:
            raise KeeperGone from error
        except OSError as error:
            problem = f"the keeper did not get the order to {message.get('do', 'do')}: {error}"
            hint = "arguments and environment together may take about 200 kB"
            raise TrialFailed("start", problem, hint) from error

    def ask(self, do: str, *, within_s: float = ANSWERS_WITHIN_S, **arguments: object) -> Message:
        """Send a request and return its reply; exits that come before it are noted.

        Raises KeeperGone, and KeeperSilent after `within_s` seconds, or once it is halted.
        """
        number = next(self._numbers)
        self.send({"id": number, "do": do, **arguments})
        deadline = time.monotonic() + within_s
        while True:
            self._awaited(deadline, within_s)
            message = self._receive()
            if message.body.get("id") == number:
                return message
            for unclaimed in message.sockets:  # the reply to a request that was interrupted
                unclaimed.close()

    def greeting(self) -> Mapping[str, Any]:
        """Return the keeper's first message. Raises KeeperGone when there is none."""
        self._awaited(time.monotonic() + ANSWERS_WITHIN_S, ANSWERS_WITHIN_S)
        return self._receive().body

    def _awaited(self, deadline: float, within_s: float) -> None:
        """Return once a message is there. Raises KeeperSilent when none comes."""
        looks = 0
        while not self._readable(min(deadline, time.monotonic() + LOOK_EVERY_S)):
            halted = self.halted()
            looks = looks + 1 if halted else 0
            if halted and looks >= LOOKS:
                raise halted
            if time.monotonic() >= deadline:
                raise KeeperSilent(f"nothing came within {exact(within_s)} s")

    def note_exits(self, until: float) -> None:
        """Note exits; wait for one until the monotonic clock says `until`. Raises KeeperGone."""
        if self._readable(until):
            self._receive()
            while self._readable(0.0):
                self._receive()

    def _readable(self, until: float) -> bool:
        left_s = max(0.0, until - time.monotonic())
        return bool(self._poll.poll(None if math.isinf(left_s) else math.ceil(left_s * 1000)))

    def _receive(self) -> Message:
        try:
            received, ancillary, _, _ = self.ours.recvmsg(
                LARGEST_MESSAGE, _ANCILLARY, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            received, ancillary = b"", []
        if not received:
            raise KeeperGone
        sender, sockets = 0, []
        for _, kind, packed in ancillary:
            if kind == SCM_CREDENTIALS:
                sender = _CREDENTIALS.unpack(packed)[0]
            elif kind == socket.SCM_RIGHTS:
                sockets = [socket.socket(fileno=fd) for (fd,) in _DESCRIPTOR.iter_unpack(packed)]
        message = Message(json.loads(received), sender, tuple(sockets))
        if "cut" in message.body:
            self.cut.add(message.body["cut"])
        if "reaper" in message.body:
            self.reaper = message.body["reaper"] or message.sender
        if "exit" in message.body:
            body = dict(message.body)
            pid = body.pop("exit")
            self.exits[pid] = Exit(**body)
        return message
