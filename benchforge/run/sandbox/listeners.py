"""Who listens in a network, as the kernel tells a socket of it.

/proc/net/tcp tells the same, and takes forty times as long: it goes through every place at which
the machine could keep a connection.
"""

import os
import socket
import struct
from collections.abc import Iterator

SOCK_DIAG = 4
"The protocol of netlink that tells of sockets."
_BY_FAMILY, _DUMP, _LISTEN = 20, 0x301, 1 << 10
_ERROR, _DONE = 2, 3
_HEADER, _QUESTION = struct.Struct("=IHHII"), struct.Struct("=BBBBI48x")
_PORT_AT, _INODE_AT = 4, 68  # behind the header
_WITHIN_S, _LARGEST = 5.0, 1 << 16


def listening(netlink: socket.socket, port: int) -> set[str]:
    """Return the inodes of the sockets that listen on a TCP port; raise OSError if not known."""
    netlink.settimeout(_WITHIN_S)
    inodes: set[str] = set()
    for family in (socket.AF_INET, socket.AF_INET6):
        question = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, _LISTEN)
        size = _HEADER.size + len(question)
        netlink.send(_HEADER.pack(size, _BY_FAMILY, _DUMP, 0, 0) + question)
        inodes |= {inode for at, inode in _listeners(netlink) if at == port}
    return inodes


def _listeners(netlink: socket.socket) -> Iterator[tuple[int, str]]:
    """Yield the port and the inode of each message of an answer."""
    while True:
        answer = netlink.recv(_LARGEST)
        while answer:
            size, kind, *_ = _HEADER.unpack_from(answer)
            if kind in {_DONE, _ERROR}:
                if number := struct.unpack_from("=i", answer, _HEADER.size)[0]:
                    raise OSError(-number, os.strerror(-number))
                return
            (port,) = struct.unpack_from("!H", answer, _HEADER.size + _PORT_AT)
            (inode,) = struct.unpack_from("=I", answer, _HEADER.size + _INODE_AT)
            yield port, str(inode)
            answer = answer[(size + 3) & ~3 :]
