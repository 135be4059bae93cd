"""Random windows of a load: in each a packet socket gets what the load's connections carry."""

import contextlib
import math
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from benchforge.run.http.wire.exchanges import Packet
from benchforge.run.http.wire.packets import (
    ALL_PROTOCOLS,
    FIN,
    LARGEST,
    RST,
    SOL_PACKET,
    Side,
    attach,
    lost,
    segment,
)
from benchforge.run.sandbox.sandbox import Sandbox

Phase = Literal["load", "around"]
_PACKET_IGNORE_OUTGOING = 23  # on loopback each packet is there twice
_SO_RCVBUFFORCE = 33
_ROOM = 8 << 20  # bytes that the kernel keeps for us; it takes them as packets come
_MOST_OF_WINDOW, _MOST_OF_TRIAL = 16 << 20, 96 << 20
_READ_EVERY_S, _SLOWEST_READ_S = 0.0005, 0.005
_FIRST_WITHIN_S = 0.25  # a window without a request goes on: few packets cost little
_SILENT_S = 0.006  # an answer of which nothing came for so long has ended, or is cut
_FOLLOWED_S = 1.0
_MOST_OPEN, _MOST_FOLLOWED = 400, 400  # packets: reading one takes about 3 us


class CapturedWindow(NamedTuple):
    """What a window got; moments are those of the monotonic clock."""

    phase: Phase
    begun_s: float
    until_s: float
    "Moment before which the requests begin that are judged; their answers are followed."
    open_s: float
    packets: list[Packet]
    lost: int
    cpu_s: float


@dataclass
class LoadWindows:
    """The windows of one trial's loads, before anything of them is understood.

    A packet socket costs each packet of its network about 0.3 us: so each window has one of its
    own, which gets nothing before it. Closing it waits for the kernel: so a thread does.
    """

    sandbox: Sandbox
    port: int
    why: str = ""
    "Reason why no window is opened; empty if windows are."
    windows: list[CapturedWindow] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _spare: list[socket.socket] = field(default_factory=list)
    _bytes: int = 0

    def __post_init__(self) -> None:
        first = self._socket()  # the first window's: whether it is allowed is known from now on
        self._spare += [] if first is None else [first]

    @contextlib.contextmanager
    def during(self, phase: Phase, moments: Sequence[float], length_s: float) -> Iterator[None]:
        """Open windows at moments, in seconds from now on; leaving it waits for none of them."""
        sockets = [opened for _ in moments if (opened := self._socket()) is not None]
        over = threading.Event()
        if not sockets:
            yield
            return
        turns = list(zip(sockets, sorted(moments), strict=False))
        words = phase, turns, length_s, over, time.monotonic()
        thread = threading.Thread(target=self._run, args=words, daemon=True)
        self._threads.append(thread)
        thread.start()
        try:
            yield
        finally:
            over.set()

    def end(self) -> list[CapturedWindow]:
        """Return all windows, once the last one is closed."""
        for unused in self._spare:
            unused.close()
        for thread in self._threads:
            thread.join()
        return sorted(self.windows, key=lambda window: window.begun_s)

    def _socket(self) -> socket.socket | None:
        if self.why or self._spare:
            return self._spare.pop() if self._spare else None
        try:
            packets = self.sandbox.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            attach(packets, self.port)
            packets.setblocking(False)
            packets.setsockopt(SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
            try:
                packets.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _ROOM)
            except OSError:  # for the machine's administrator only
                packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM)
        except OSError as error:
            self.why = f"the trial's network allows no packet socket: {error.strerror}"
            return None
        return packets

    def _run(
        self,
        phase: Phase,
        turns: Sequence[tuple[socket.socket, float]],
        length_s: float,
        over: threading.Event,
        begun_s: float,
    ) -> None:
        within_s = math.inf  # some load tools take seconds until their load begins
        for packets, moment_s in turns:
            with packets:
                over.wait(max(0.0, begun_s + moment_s - time.monotonic()))
                if not over.is_set() and self._bytes < _MOST_OF_TRIAL:
                    with contextlib.suppress(OSError):  # the trial's network is gone
                        first_s = self._open((phase, packets), length_s, within_s, over)
                        if within_s > _FIRST_WITHIN_S:
                            begun_s, within_s = first_s - moment_s, _FIRST_WITHIN_S

    def _open(
        self,
        window: tuple[Phase, socket.socket],
        length_s: float,
        within_s: float,
        over: threading.Event,
    ) -> float:
        """Open a window, and read what it gets until the answers in it have ended.

        It waits so long for the first request. Return when its first packet came.
        """
        phase, packets = window
        cpu_s, begun_s = time.thread_time(), time.monotonic()
        packets.bind(("lo", socket.ntohs(ALL_PROTOCOLS)))
        reading = _Reading(packets, self.port)
        open_s, ended, more, pause_s = 0.0, False, True, min(_READ_EVERY_S, length_s)
        while more and not ended and open_s < max(length_s, within_s):
            ended = over.wait(pause_s)
            more = reading.read(_MOST_OPEN)
            open_s = time.monotonic() - begun_s
            if open_s < length_s:
                continue
            if reading.requested():
                break
            pause_s = min(2 * pause_s, _SLOWEST_READ_S)
        until_s, pause_s = time.monotonic(), _READ_EVERY_S
        most, last_s = len(reading.packets) + _MOST_FOLLOWED, until_s + _FOLLOWED_S
        more = True
        while (
            more and not ended and reading.outstanding(now_s := time.monotonic()) and now_s < last_s
        ):
            ended = over.wait(pause_s)
            more, pause_s = reading.read(most), min(2 * pause_s, _SLOWEST_READ_S)
        now_s = time.monotonic()
        dropped = lost(packets)
        packets.close()
        used_s = time.thread_time() - cpu_s
        self._bytes += reading.bytes
        open_s = now_s - begun_s
        self.windows.append(
            CapturedWindow(phase, begun_s, until_s, open_s, reading.packets, dropped, used_s)
        )
        return reading.packets[0].seconds if reading.packets else begun_s


class _Reading:
    """What was read of a packet socket, and whose answers have not ended: a guess that is cheap."""

    def __init__(self, packets: socket.socket, port: int) -> None:
        self._socket, self._port = packets, port
        self.packets: list[Packet] = []
        self.bytes = 0
        self._looked = 0
        self._waiting: dict[tuple[Side, Side], float | None] = {}
        "Connections with a request, and when the last piece of the answer was read."

    def read(self, most: int) -> bool:
        """Read the packets that are there; False if there may be more than these."""
        while len(self.packets) < most and self.bytes < _MOST_OF_WINDOW:
            try:
                content = self._socket.recv(LARGEST)
            except BlockingIOError:
                return True
            self.packets.append(Packet(time.monotonic(), content))
            self.bytes += len(content)
        return False

    def requested(self) -> bool:
        """Whether a request has come: nobody has looked for any so far."""
        segments = (segment(packet.content) for packet in self.packets)
        return any(sent and sent.receiver[1] == self._port and sent.payload for sent in segments)

    def outstanding(self, now_s: float) -> bool:
        """Whether an answer to a request that came before the first call may go on."""
        first = self._looked == 0
        for seconds, content in self.packets[self._looked :]:
            sent = segment(content)
            if sent is None:
                continue
            if sent.flags & (FIN | RST):
                self._waiting.pop((sent.sender, sent.receiver), None)
                self._waiting.pop((sent.receiver, sent.sender), None)
            elif sent.payload and sent.receiver[1] != self._port:
                if (side := (sent.receiver, sent.sender)) in self._waiting:
                    self._waiting[side] = seconds
            elif sent.payload:
                side = sent.sender, sent.receiver
                if first:
                    self._waiting[side] = None
                elif self._waiting.get(side) is not None:
                    del self._waiting[side]
        self._looked = len(self.packets)
        return any(last is None or now_s - last < _SILENT_S for last in self._waiting.values())
