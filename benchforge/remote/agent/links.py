"""The network between two hosts: its round trip, its bandwidth, what an interface carried."""

import contextlib
import fcntl
import hmac
import socket
import struct
import threading
import time
from pathlib import Path

from benchforge.errors import NoAnswer
from benchforge.model.trial.hosts import HostLink

_TRIPS, _BLOCK = 200, 1 << 18
_WITHIN_S, _TOKEN_WITHIN_S = 10.0, 1.0
_STRANGERS = 8
"Connections without the token, after which nobody is taken any more."
_SIOCGIFADDR = 0x8915


def sink(address: str, token: str) -> int:
    """Take one connection of another host's `measured`, which sends a token; return the port."""
    listening = socket.create_server((address, 0))
    listening.settimeout(_WITHIN_S)
    threading.Thread(target=_take, args=(listening, token.encode()), daemon=True).start()
    return int(listening.getsockname()[1])


def _take(listening: socket.socket, token: bytes) -> None:
    """Answer the first who sends the token; who takes too long is one of the strangers."""
    with contextlib.suppress(OSError), listening:
        for _ in range(_STRANGERS):
            with contextlib.suppress(OSError), listening.accept()[0] as peer:
                peer.settimeout(_TOKEN_WITHIN_S)
                if not hmac.compare_digest(peer.recv(len(token), socket.MSG_WAITALL), token):
                    continue
                peer.settimeout(_WITHIN_S)
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for _ in range(_TRIPS):
                    peer.sendall(peer.recv(1))
                total = 0
                while received := len(peer.recv(_BLOCK)):
                    total += received
                peer.sendall(str(total).encode())
                return


def measured(address: str, port: int, seconds: float, token: str) -> HostLink:
    """Measure round trips and bytes per second to another host's `sink`. Raises NoAnswer."""
    trips: list[float] = []
    try:
        with socket.create_connection((address, port), _WITHIN_S) as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer.sendall(token.encode())
            for _ in range(_TRIPS):
                begun = time.perf_counter()
                peer.sendall(b"x")
                peer.recv(1)
                trips.append(time.perf_counter() - begun)
            block, begun = bytes(_BLOCK), time.monotonic()
            while time.monotonic() - begun < seconds:
                peer.sendall(block)
            peer.shutdown(socket.SHUT_WR)
            rate = int(peer.recv(99)) / (time.monotonic() - begun)
    except (OSError, ValueError) as error:
        raise NoAnswer(f"{address}:{port}: {error}") from error
    return HostLink(bytes_per_s=rate, round_trip_s=sorted(trips)[_TRIPS // 2])


def interface(address: str) -> str:
    """Return the name of the interface with an address. Raises ValueError where none has it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            try:
                request = struct.pack("256s", name.encode()[:15])
                answer = fcntl.ioctl(asking, _SIOCGIFADDR, request)
            except OSError:  # without an address
                continue
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    raise ValueError(address)


def traffic(address: str) -> dict[str, int]:
    """Return the counters of the interface with an address, by /proc: /sys may be another's."""
    interface_name = interface(address)
    for line in Path("/proc/self/net/dev").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.strip().partition(":")
        if name == interface_name:
            numbers = [int(word) for word in rest.split()]
            dropped = numbers[3] + numbers[11]
            return {"received": numbers[0], "sent": numbers[8], "dropped": dropped}
    return {}
