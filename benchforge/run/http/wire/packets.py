"""TCP segments as a packet socket of a trial's network gets them."""

import ctypes
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from benchforge.run.sandbox.sandbox import Sandbox

ALL_PROTOCOLS = socket.htons(0x0003)
_OUTGOING = 4  # of a packet: on loopback each is there on its way out, and on its way in
SOL_PACKET, PACKET_STATISTICS = 263, 6
LARGEST = 1 << 16
FIN, SYN, RST = 1, 2, 4
_SO_ATTACH_FILTER, _SO_RCVBUFFORCE, _SO_MEMINFO = 26, 33, 55
_IPV4, _IPV6, _TCP = 4, 6, 6
_IPV4_HEADER, _IPV6_HEADER, _TCP_HEADER = 20, 40, 20
_HEADER = struct.Struct("!HHIIBB")

Side = tuple[bytes, int]
"Address and port of one side of a connection."


class Segment(NamedTuple):
    """A TCP segment."""

    sender: Side
    receiver: Side
    sequence: int
    acknowledged: int
    flags: int
    payload: bytes


def opened(
    sandbox: Sandbox, room: int, port: int = 0, protocol: int = ALL_PROTOCOLS, count: int = 1
) -> socket.socket:
    """Return a packet socket of a trial's network with `room` bytes in the kernel.

    It gets packets of the `port`, or all; with protocol 0 none until it is bound. `count` are made
    at once, for the next calls. Raises OSError.
    """
    packets = sandbox.socket(socket.AF_PACKET, socket.SOCK_DGRAM, protocol, count)
    packets.setblocking(False)
    if port:
        attach(packets, port)
    try:
        packets.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, room)
    except OSError:  # for the machine's administrator only
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    return packets


def waiting(packets: socket.socket, most: int = LARGEST) -> Iterator[tuple[bytes, bool]]:
    """Yield the packets that wait, up to `most` bytes of each, and whether it is on its way out."""
    while True:
        try:
            packet, address = packets.recvfrom(most)
        except BlockingIOError:
            return
        yield packet, address[2] == _OUTGOING


def segment(packet: bytes) -> Segment | None:
    """Return the TCP segment of an IP packet, of which the end may be cut off; None for others."""
    version = packet[0] >> 4 if packet else 0
    if version == _IPV4 and len(packet) >= _IPV4_HEADER:
        length, protocol, addresses = (packet[0] & 15) * 4, packet[9], packet[12:20]
        total = struct.unpack_from("!H", packet, 2)[0]
    elif version == _IPV6 and len(packet) > _IPV6_HEADER:
        length, protocol, addresses = _IPV6_HEADER, packet[6], packet[8:40]
        total = _IPV6_HEADER + struct.unpack_from("!H", packet, 4)[0]
    else:
        return None
    if protocol != _TCP or len(packet) < length + _TCP_HEADER:
        return None
    source, target, sequence, acknowledged, size, flags = _HEADER.unpack_from(packet, length)
    half = len(addresses) // 2
    sender, receiver = (addresses[:half], source), (addresses[half:], target)
    payload = packet[length + (size >> 4) * 4 : total]
    return Segment(sender, receiver, sequence, acknowledged, flags, payload)


def counted(packets: socket.socket) -> tuple[int, int]:
    """Return the packets since the last call, and those of them that the kernel had no room for."""
    came, lost = struct.unpack("II", packets.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    return int(came), int(lost)


def held(packets: socket.socket) -> int:
    """Return the bytes of memory that packets take which nobody has read."""
    return int(struct.unpack_from("I", packets.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 36))[0])


def attach(packets: socket.socket, port: int) -> None:
    """Have the kernel drop all packets but those from and to a TCP port: a program of BPF."""
    # Operation, lines to skip if it is so, if not, and operand. Offsets are from the IP header.
    program = [
        (0x30, 0, 0, 0),  # load the version
        (0x54, 0, 0, 0xF0),
        (0x15, 0, 7, 0x40),  # IPv4, or go on with IPv6
        (0x30, 0, 0, 9),
        (0x15, 0, 13, socket.IPPROTO_TCP),
        (0xB1, 0, 0, 0),  # the length of the header
        (0x48, 0, 0, 0),
        (0x15, 9, 0, port),
        (0x48, 0, 0, 2),
        (0x15, 7, 8, port),
        (0x15, 0, 7, 0x60),  # IPv6
        (0x30, 0, 0, 6),
        (0x15, 0, 5, socket.IPPROTO_TCP),
        (0x28, 0, 0, 40),
        (0x15, 2, 0, port),
        (0x28, 0, 0, 42),
        (0x15, 0, 1, port),
        (0x06, 0, 0, LARGEST),  # keep
        (0x06, 0, 0, 0),  # drop
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    address = struct.pack("HL", len(program), ctypes.addressof(code))
    packets.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, address)
