"""Hearing the first request of a load tool on the trial's network, as the tool really sends it."""

import contextlib
import ctypes
import select
import socket
import struct
import time

from benchforge.run.http.tls_sniffer import ALL_PROTOCOLS, OUTGOING, segments
from benchforge.run.sandbox.sandbox import Sandbox

_ROOM = 1 << 17  # bytes that the kernel keeps for us: more would only be dropped later
_LARGEST = 1 << 16
_SO_ATTACH_FILTER = 26
_END = b"\r\n\r\n"
_EXPECTS = b"\r\nexpect:"


class RequestSniffer:
    """Opened just before a load, and closed with the first request: packets cost CPU time."""

    def __init__(self, sandbox: Sandbox, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        with contextlib.suppress(OSError):  # not allowed
            self._socket = sandbox.socket(socket.AF_PACKET, socket.SOCK_DGRAM, ALL_PROTOCOLS)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM)
            _attach(self._socket, port)

    @property
    def open(self) -> bool:
        """Whether a request may still be heard."""
        return self._socket is not None

    def head(self, first: bytes, within_s: float) -> bytes | None:
        """Return the head of the first request, with the empty line after it; None if none came.

        One that does not begin with `first` is no such head.
        """
        deadline = time.monotonic() + within_s
        while self._socket is not None:
            try:
                packet, address = self._socket.recvfrom(_LARGEST)
            except BlockingIOError:
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return None
                select.select([self._socket], [], [], left_s)
                continue
            for _, port, payload in segments(packet) if address[2] == OUTGOING else ():
                head = payload[: payload.find(_END) + len(_END)]
                whole = port == self._port and head.startswith(first) and head.endswith(_END)
                if whole and _EXPECTS not in head.lower():
                    return head
        return None

    def close(self) -> None:
        """Hear no more."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None


def _attach(packets: socket.socket, port: int) -> None:
    """Have the kernel drop all packets but those to a TCP port: a program of BPF."""
    # Operation, lines to skip if it is so, if not, and operand. Offsets are from the IP header.
    program = [
        (0x30, 0, 0, 0),  # load the version
        (0x54, 0, 0, 0xF0),
        (0x15, 0, 5, 0x40),  # IPv4, or go on with IPv6
        (0x30, 0, 0, 9),
        (0x15, 0, 9, socket.IPPROTO_TCP),
        (0xB1, 0, 0, 0),  # the length of the header
        (0x48, 0, 0, 2),
        (0x15, 5, 6, port),
        (0x15, 0, 5, 0x60),  # IPv6
        (0x30, 0, 0, 6),
        (0x15, 0, 3, socket.IPPROTO_TCP),
        (0x28, 0, 0, 42),
        (0x15, 0, 1, port),
        (0x06, 0, 0, _LARGEST),  # keep
        (0x06, 0, 0, 0),  # drop
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    where = struct.pack("HL", len(program), ctypes.addressof(code))
    packets.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, where)
