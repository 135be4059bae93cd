"""Sockets that listen in a network, or have a name, by netlink.

/proc/net/tcp lists them too, and takes forty times as long.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

SOCK_DIAG = 4
"The protocol of netlink that tells of sockets."
_BY_FAMILY, _DUMP, _LISTEN = 20, 0x301, 1 << 10
_ERROR, _DONE = 2, 3
_HEADER, _QUESTION = struct.Struct("=IHHII"), struct.Struct("=BBBBI48x")
_PORT_AT, _INODE_AT = 4, 68
_BOUND, _SHOW = 1 << 7 | 1 << 10, 0x1 | 0x10 | 0x40  # states; name, queue and user
_NAMED_QUESTION, _NAMED, _ATTRIBUTE = map(struct.Struct, ("=BBHIIIII", "=BBBBI8x", "=HH"))
_NAME, _QUEUE, _USER = 0, 4, 7
_WITHIN_S, _LARGEST = 5.0, 1 << 16


def listening(netlink: socket.socket, port: int) -> set[str]:
    """Return the inodes of the sockets that listen on a TCP port; raise OSError if not known."""
    netlink.settimeout(_WITHIN_S)
    inodes: set[str] = set()
    for family in (socket.AF_INET, socket.AF_INET6):
        question = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, _LISTEN)
        for message in _answers(netlink, question):
            if struct.unpack_from("!H", message, _PORT_AT)[0] == port:
                inodes.add(str(struct.unpack_from("=I", message, _INODE_AT)[0]))
    return inodes


class NameHolder(NamedTuple):
    """A unix socket that has a name."""

    inode: int
    uid: int | None
    "The user that made it; None if the kernel is older than Linux 5.3."
    waiting: int
    "Number of connections that nobody has accepted yet."


def holder_of(name: bytes) -> NameHolder | None:
    """Return the stream socket of this network that has a name. Raises OSError if not known."""
    question = _NAMED_QUESTION.pack(socket.AF_UNIX, 0, 0, _BOUND, 0, _SHOW, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as netlink:
        netlink.settimeout(_WITHIN_S)
        for message in _answers(netlink, question):
            _, kind, _, _, inode = _NAMED.unpack_from(message)
            values = dict(_attributes(message[_NAMED.size :]))
            if kind == socket.SOCK_STREAM and values.get(_NAME) == name:
                uid, queue = (values.get(key, b"")[:4] for key in (_USER, _QUEUE))
                user = int.from_bytes(uid, sys.byteorder) if uid else None
                return NameHolder(inode, user, int.from_bytes(queue, sys.byteorder))
    return None


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _ATTRIBUTE.size:
        size, kind = _ATTRIBUTE.unpack_from(data)
        yield kind, data[_ATTRIBUTE.size : size]
        data = data[max(_ATTRIBUTE.size, (size + 3) & ~3) :]


def _answers(netlink: socket.socket, question: bytes) -> Iterator[bytes]:
    """Yield each message of the answer to a question, without its header."""
    size = _HEADER.size + len(question)
    netlink.send(_HEADER.pack(size, _BY_FAMILY, _DUMP, 0, 0) + question)
    while True:
        answer = netlink.recv(_LARGEST)
        while answer:
            size, kind, *_ = _HEADER.unpack_from(answer)
            if kind in {_DONE, _ERROR}:
                if number := struct.unpack_from("=i", answer, _HEADER.size)[0]:
                    raise OSError(-number, os.strerror(-number))
                return
            yield answer[_HEADER.size : size]
            answer = answer[(size + 3) & ~3 :]
