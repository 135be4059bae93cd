"""Random windows of a load: in each a packet socket gets what the load's connections carry."""

import contextlib
import errno
import math
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from benchforge.run.http.wire import packets as tcp
from benchforge.run.http.wire.exchanges import Packet, exchanges
from benchforge.run.sandbox.sandbox import Sandbox

Phase = Literal["load", "around"]
LOOPBACK = "lo"
_PACKET_IGNORE_OUTGOING = 23  # on loopback each packet is there twice
_ROOM = 8 << 20  # bytes that the kernel keeps for us; it takes them as packets come
_MOST_OF_WINDOW = 16 << 20
_READ_EVERY_S, _SLOWEST_READ_S = 0.0005, 0.005
_IDLE_S = 0.02  # how late a window that waits for a packet may hear that the load is over
_SILENT_S = 0.006  # an answer that lasts so long has ended, or is slow
_MOST_OPEN, _MOST_FOLLOWED = 120, 400  # packets: one takes about 3 us, and its answer 30 later


class CapturedWindow(NamedTuple):
    """What a window got; moments are those of the monotonic clock."""

    phase: Phase
    begun_s: Annotated[float, Field(ge=0, le=1e12)]
    until_s: float
    "Moment before which the requests begin that are judged; their answers are followed."
    open_s: NonNegativeFloat
    packets: list[Packet]
    lost: NonNegativeInt
    cpu_s: NonNegativeFloat


@dataclass
class LoadWindows:
    """The windows of one trial's loads, before anything of them is understood.

    Each has a packet socket, which costs each packet about 0.3 us. A thread closes it, which takes
    long.
    """

    sandbox: Sandbox
    port: int
    why: str = ""
    "Reason why no window is opened; empty if windows are."
    behind: str = ""
    "Encryption of the load, if its answers are read behind it; empty if they are the load's."
    interface: str | None = "lo"
    "Network interface that carries them; None if another host opens the windows."
    where: str = "in the trial's network"
    most_bytes: int = 96 << 20
    "Bytes after which no further window opens."
    ahead_s: float = 0.0
    "Seconds by which the windows' clock is ahead of the load tool's."
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
        counts = range(len(moments), 0, -1)
        sockets = [packets for count in counts if (packets := self._socket(count)) is not None]
        over = threading.Event()
        if not sockets:
            yield
            return
        self._begin(self._run, (phase, length_s), over, sockets, sorted(moments))
        try:
            yield
        finally:
            over.set()

    def end(self) -> list[CapturedWindow]:
        """Return all windows, once the last one is closed."""
        while self._spare:
            self._spare.pop().close()
        for thread in self._threads:  # threads add others before they end
            thread.join()
        return sorted(self.windows, key=lambda window: window.begun_s)

    def _begin(self, task: Callable[..., None], *words: object) -> None:
        thread = threading.Thread(target=task, args=words, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _socket(self, count: int = 1) -> socket.socket | None:
        if self.why or self._spare or self.interface is None:
            return self._spare.pop() if self._spare else None
        try:
            packets = tcp.opened(self.sandbox, _ROOM, self.port, 0, count)
            if self.interface == LOOPBACK:
                packets.setsockopt(tcp.SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        except OSError as error:
            self.why = f"no packet socket {self.where}: {error.strerror}"
            if error.errno == errno.EPERM:
                self.why = f"no CAP_NET_RAW {self.where}"
            return None
        return packets

    def _run(
        self,
        kind: tuple[Phase, float],
        over: threading.Event,
        sockets: Sequence[socket.socket],
        moments: Sequence[float],
    ) -> None:
        """Open one window after another; slow answers are followed while the next ones open."""
        begun_s, waits = time.monotonic(), True
        moments_s = pairwise([*moments, math.inf])
        for packets, (moment_s, next_s) in zip(sockets, moments_s, strict=False):
            over.wait(max(0.0, begun_s + moment_s - time.monotonic()))
            if over.is_set() or self._bytes >= self.most_bytes:
                self._begin(packets.close)
                continue
            window = _Window(packets, self.port, *kind, over)
            window.open(str(self.interface))
            if waits and window.packets:  # some load tools take seconds until their load begins
                begun_s = window.packets[0].seconds - moment_s
            waits = False
            if window.followed(begun_s + next_s):
                self._close(window)
            else:
                self._begin(self._close, window)

    def _close(self, window: "_Window") -> None:
        window.followed(math.inf)
        self._bytes += window.bytes
        self.windows += window.closed()


class _Window:
    """What was read of a packet socket, and whose answers have not ended."""

    def __init__(
        self, packets: socket.socket, port: int, phase: Phase, lasts_s: float, over: threading.Event
    ) -> None:
        self._socket, self._port, self._over = packets, port, over
        self._phase: Phase = phase
        self._length_s = lasts_s
        self.packets: list[Packet] = []
        self.bytes = self._looked = 0
        self._most = _MOST_OPEN
        self._begun_s = self._until_s = self._parses_s = time.monotonic()
        self._cpu_s, self._failed = 0.0, False
        self._waiting: dict[tcp.Side, bool] = {}
        "Clients with a request, and whether its answer has begun."

    def open(self, interface: str) -> None:
        """Read until its time is over and a request has come, or the load is over."""
        with self._costs():
            self._socket.bind((interface, socket.ntohs(tcp.ALL_PROTOCOLS)))
            until_s = self._begun_s + self._length_s
            pause_s, more = min(_READ_EVERY_S, self._length_s), True
            while more and not self._over.is_set():
                left_s = until_s - time.monotonic()
                more = self._read(pause_s, left_s if left_s > 0 else _IDLE_S)
                if time.monotonic() >= until_s and self._requested():
                    break
            self._until_s = time.monotonic()
            self._parses_s = self._until_s + _SILENT_S
            self._most = len(self.packets) + _MOST_FOLLOWED

    def followed(self, until_s: float) -> bool:
        """Read until the answers to its requests have ended; False if they have not at a moment."""
        pause_s, more = _READ_EVERY_S, True
        with self._costs():
            while more and self._outstanding() and not self._over.is_set():
                if time.monotonic() >= until_s:
                    return False
                more = self._read(pause_s, _SILENT_S)
                pause_s = min(2 * pause_s, _SLOWEST_READ_S)
        return True

    def closed(self) -> list[CapturedWindow]:
        """Close it; return what it got, or nothing where the trial's network was gone."""
        moments = self._begun_s, self._until_s, time.monotonic() - self._begun_s
        dropped = 0
        with self._costs(), self._socket:
            dropped = tcp.lost(self._socket)
        of_part = CapturedWindow(self._phase, *moments, self.packets, dropped, self._cpu_s)
        return [] if self._failed else [of_part]

    @contextlib.contextmanager
    def _costs(self) -> Iterator[None]:
        begun_s = time.thread_time()
        try:
            yield
        except OSError:
            self._failed = True
        finally:
            self._cpu_s += time.thread_time() - begun_s

    def _read(self, pause_s: float, idle_s: float) -> bool:
        """Pause, wait for packets, and read them; False if there may be more than are read."""
        if not self._over.wait(pause_s):
            select.select([self._socket], [], [], idle_s)
        for content, _ in tcp.waiting(self._socket):
            self.packets.append(Packet(time.monotonic(), content))
            self.bytes += len(content)
            if len(self.packets) >= self._most or self.bytes >= _MOST_OF_WINDOW:
                return False
        return True

    def _requested(self) -> bool:
        """Whether a request has come: nobody has looked for any so far."""
        segments = (tcp.segment(packet.content) for packet in self.packets)
        return any(sent and sent.receiver[1] == self._port and sent.payload for sent in segments)

    def _outstanding(self) -> bool:
        """Whether an answer to a request that came before the first call may go on.

        A cheap guess is enough for most; for slow answers the parser knows, ever more seldom.
        """
        self._look()
        now_s = time.monotonic()
        if self._waiting and now_s >= self._parses_s:
            self._parses_s = 2 * now_s - self._until_s
            pairs = exchanges(self.packets, self._port, self._until_s)
            return any(pair.understood and pair.answer is None for pair in pairs)
        return bool(self._waiting)

    def _look(self) -> None:
        """Note which clients wait for an answer, by the packets that came since."""
        first = self._looked == 0
        for _, content in self.packets[self._looked :]:
            sent = tcp.segment(content)
            if sent is None:
                continue
            asks = sent.receiver[1] == self._port
            client = sent.sender if asks else sent.receiver
            closes = sent.flags & (tcp.FIN | tcp.RST)
            if closes or (asks and sent.payload and self._waiting.get(client)):
                self._waiting.pop(client, None)  # its answer has ended
            if asks and sent.payload and first:
                self._waiting[client] = False
            elif sent.payload and not asks and client in self._waiting:
                self._waiting[client] = True
        self._looked = len(self.packets)
