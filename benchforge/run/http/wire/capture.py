"""Random windows of a load: in each a packet socket gets what the load's connections carry."""

import contextlib
import errno
import math
import random
import select
import socket
import threading
import time
import weakref
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
_NO_PROTOCOL = 0x0060  # of frames that a loop sends back: no network carries any
_IDLE_S = 0.02  # how late a window that waits for a packet may hear that the load is over
_SILENT_S = 0.006  # an answer that lasts so long has ended, or is slow
_FEW, _MOST_FOLLOWED = 48, 400  # packets: to read one takes about 3 us, and its answer 30 later
_MANY, _SHORTEST_S = 100, 0.0002  # packets of a window: where more would come, it is shorter
_FOLLOWED_OF_CLIENT, _MOST_UNREAD = 6, 600  # packets after a window: about three answers
_USUAL_CLIENTS, _MOST_CLIENTS = 16, 8


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

    Each has a packet socket, which costs each packet about 0.3 us. A thread takes it from the
    network, which takes long. Many packets stay in the kernel until the load is over.
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
    clients: int = _USUAL_CLIENTS
    "Connections of the load, as far as that is known."
    ahead_s: float = 0.0
    "Seconds by which the windows' clock is ahead of the load tool's."
    windows: list[CapturedWindow] = field(default_factory=list)
    _unread: "list[_Window]" = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _spare: list[socket.socket] = field(default_factory=list)
    _bytes: int = 0
    _packet_s: float = 0.0
    "Seconds that passed for each packet of the last window."

    def __post_init__(self) -> None:
        weakref.finalize(self, _close_all, self._unread, self._spare)  # after a trial that failed
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
        self._join()
        self.windows += filter(None, [window.captured() for window in self._unread])
        while self._unread:  # the kernel takes 10 ms for each
            self._begin(self._unread.pop().socket.close)
        self._join()
        return sorted(self.windows, key=lambda window: window.begun_s)

    def _join(self) -> None:
        for thread in self._threads:  # threads add others before they end
            thread.join()
        self._threads.clear()

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
            phase, length_s = kind
            length_s = min(length_s, max(_SHORTEST_S, _MANY * self._packet_s or math.inf))
            window = _Window(packets, self.port, phase, length_s, over)
            came = window.open(str(self.interface), self.clients)
            self._packet_s = length_s / came if came > _FEW else self._packet_s
            if waits and window.began_s:  # some load tools take seconds until their load begins
                begun_s = window.began_s - moment_s
            waits = False
            if window.followed(begun_s + next_s):
                self._close(window)
            else:
                self._begin(self._close, window)

    def _close(self, window: "_Window") -> None:
        window.followed(math.inf)
        self._bytes += window.detached()
        self._unread.append(window)


class _Window:
    """What was read of a packet socket, and whose answers have not ended."""

    def __init__(
        self, packets: socket.socket, port: int, phase: Phase, lasts_s: float, over: threading.Event
    ) -> None:
        self.socket, self._port, self._over = packets, port, over
        self._phase: Phase = phase
        self._length_s, self._interface = lasts_s, LOOPBACK
        self._packets: list[Packet] = []
        self._bytes = self._looked = self._lost = 0
        self._count = 0
        "Packets that came until its time was over, where they are read after the load."
        self._begun_s = self._until_s = self._closed_s = self._parses_s = time.monotonic()
        self._cpu_s, self._failed = 0.0, False
        self._waiting: dict[tcp.Side, bool] = {}
        "Clients with a request, and whether its answer has begun."

    @property
    def began_s(self) -> float | None:
        """Moment of the first packet; None if none came."""
        if self._count:
            return self._begun_s
        return self._packets[0].seconds if self._packets else None

    def open(self, interface: str, clients: int) -> int:
        """Wait until its time is over and a request has come; return how many packets came.

        Nobody reads meanwhile, nor later in the load if many packets came: to read one takes longer
        than the next one takes to come. Then it waits for about three answers to each client.
        """
        count = 0
        self._interface = interface
        with self._costs():
            self.socket.bind((interface, socket.ntohs(tcp.ALL_PROTOCOLS)))
            self._over.wait(self._length_s)
            count, self._lost = tcp.counted(self.socket)
            if count > _FEW:
                self._until_s = time.monotonic()
                followed = min(_MOST_UNREAD, _FOLLOWED_OF_CLIENT * clients)
                self._over.wait(self._length_s * followed / count)
                self._count = count
                return count
            more = self._read(0.0, 0.0)
            while more and not self._over.is_set() and not self._requested():
                more = self._read(_READ_EVERY_S, _IDLE_S)
            self._until_s = time.monotonic()  # after the moments at which packets were read
            self._parses_s = self._until_s + _SILENT_S
        return count

    def followed(self, until_s: float) -> bool:
        """Read until the answers to its requests have ended; False if they have not at a moment."""
        pause_s, more = _READ_EVERY_S, not self._count
        with self._costs():
            while more and self._outstanding() and not self._over.is_set():
                if time.monotonic() >= until_s:
                    return False
                more = self._read(pause_s, _SILENT_S)
                pause_s = min(2 * pause_s, _SLOWEST_READ_S)
        return True

    def detached(self) -> int:
        """Take no further packet; return the bytes that it holds."""
        self._closed_s = time.monotonic()
        with self._costs():
            self.socket.bind((self._interface, _NO_PROTOCOL))
            self._lost += tcp.counted(self.socket)[1]
            return self._bytes + tcp.held(self.socket)
        return self._bytes

    def captured(self) -> CapturedWindow | None:
        """Return what it got; None where the trial's network was gone."""
        contents: list[bytes] = []
        with contextlib.suppress(OSError):  # the network is gone
            contents = [content for content, _ in tcp.waiting(self.socket)] if self._count else []
        until, rest = contents[: self._count], contents[self._count :]
        packets = [
            *_spread(until, self._begun_s, self._until_s),
            *_spread(rest, self._until_s, self._closed_s),
        ]
        if packets:
            self._packets = _of_clients(packets, self._count, self._port)
        moments = self._begun_s, self._until_s, self._closed_s - self._begun_s
        window = CapturedWindow(self._phase, *moments, self._packets, self._lost, self._cpu_s)
        return None if self._failed else window

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
            select.select([self.socket], [], [], idle_s)
        for content, _ in tcp.waiting(self.socket):
            self._packets.append(Packet(time.monotonic(), content))
            self._bytes += len(content)
            if len(self._packets) >= _MOST_FOLLOWED or self._bytes >= _MOST_OF_WINDOW:
                return False
        return True

    def _requested(self) -> bool:
        """Whether a request has come: nobody has looked for any so far."""
        segments = (tcp.segment(packet.content) for packet in self._packets)
        return any(sent and sent.receiver[1] == self._port and sent.payload for sent in segments)

    def _outstanding(self) -> bool:
        """Whether an answer to a request that came before the first call may go on.

        A cheap guess is enough for most; for slow answers the parser knows, ever more seldom.
        """
        self._look()
        now_s = time.monotonic()
        if self._waiting and now_s >= self._parses_s:
            self._parses_s = 2 * now_s - self._until_s
            pairs = exchanges(self._packets, self._port, self._until_s)
            return any(pair.understood and pair.answer is None for pair in pairs)
        return bool(self._waiting)

    def _look(self) -> None:
        """Note which clients wait for an answer, by the packets that came since."""
        first = self._looked == 0
        for _, content in self._packets[self._looked :]:
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
        self._looked = len(self._packets)


def _close_all(unread: list[_Window], spare: list[socket.socket]) -> None:
    for packets in (*(window.socket for window in unread), *spare):
        packets.close()


def _spread(contents: list[bytes], begun_s: float, until_s: float) -> Iterator[Packet]:
    """Yield packets as if they had come evenly: nobody looked when each came."""
    for number, content in enumerate(contents):
        yield Packet(begun_s + (until_s - begun_s) * (number + 0.5) / len(contents), content)


def _of_clients(packets: list[Packet], earliest: int, port: int) -> list[Packet]:
    """Return the packets of some clients, drawn from those with one of the `earliest`."""
    clients = [_client(packet, port) for packet in packets]
    asking = sorted({client for client in clients[:earliest] if client is not None})
    drawn = set(random.sample(asking, min(len(asking), _MOST_CLIENTS)))
    return [packet for packet, client in zip(packets, clients, strict=True) if client in drawn]


def _client(packet: Packet, port: int) -> tcp.Side | None:
    if (sent := tcp.segment(packet.content)) is None:
        return None
    return sent.sender if sent.receiver[1] == port else sent.receiver
