"""A small HTTP server that misbehaves by path: what the recordings beside it were made against.

    python faults.py PORT

It prints how many connections it accepted when it is stopped with SIGTERM.
"""

import asyncio
import itertools
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator

BODY = b"Hello, World!\n"
STALL_S = 0.2
LATE_S = 1.5


class Faults:
    """Answers requests; `accepted` counts the connections."""

    def __init__(self) -> None:
        self.accepted = 0
        self._requests = itertools.count(1)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until either side closes it."""
        self.accepted += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if not await self._answer(head.decode("latin-1"), reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    async def _answer(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        method, target, version = head.split("\r\n", 1)[0].split(" ")
        lower = head.lower()
        sent = await reader.readexactly(_length(lower))
        number = next(self._requests)
        keeps = "connection: keep-alive" in lower or version == "HTTP/1.1"
        path = target.partition("?")[0]
        if path == "/hang":
            await asyncio.sleep(60)
        if path == "/slow" or (path == "/late" and number % 20 == 0):
            await asyncio.sleep(STALL_S if path == "/slow" else LATE_S)
        if path == "/empty":
            return False
        if path == "/reset" and number % 50 == 0:
            _reset(writer)
            return False
        status, body = _reply(path, number, method, sent, head)
        cut = path == "/halves" or (path == "/half" and number % 10 == 0)
        writer.write(
            f"HTTP/1.1 {status} X\r\nServer: faults/1\r\nContent-Length: {len(body)}\r\n"
            f"Connection: {'keep-alive' if keeps else 'close'}\r\n\r\n".encode()
        )
        writer.write(b"" if method == "HEAD" else body[: len(body) // 2] if cut else body)
        await writer.drain()
        return keeps and not cut and path != "/closes"


def _length(lower: str) -> int:
    found = lower.partition("content-length:")[2].partition("\r\n")[0].strip()
    return int(found or 0)


def _reply(path: str, number: int, method: str, sent: bytes, head: str) -> tuple[int, bytes]:
    if path == "/echo":
        return 200, f"{method} {sent.decode()}\n{head}".encode()
    if path == "/broken" or (path == "/mixed" and number % 2):
        return 500, b"broken"
    if path == "/unavailable":
        return (503 if number % 2 else 200), BODY
    if path == "/variable":
        return 200, BODY * (1 + number % 7)
    return 200, BODY


def _reset(writer: asyncio.StreamWriter) -> None:
    # Closing with a linger time of zero sends RST instead of FIN.
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def _stall_each_second() -> None:
    while True:
        await asyncio.sleep(1 - STALL_S)
        time.sleep(STALL_S)  # noqa: ASYNC251  # the whole server stands still


async def main(port: int, stalls: bool, ready: Callable[[int], None] = lambda _: None) -> None:
    """Serve until SIGTERM."""
    faults = Faults()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    server = await asyncio.start_server(faults.serve, "127.0.0.1", port, backlog=1024)
    ready(server.sockets[0].getsockname()[1])
    stalling = asyncio.ensure_future(_stall_each_second()) if stalls else None
    await stopped.wait()
    if stalling:
        stalling.cancel()
    sys.stdout.write(f"accepted {faults.accepted}\n")


def _words() -> Iterator[str]:
    yield from sys.argv[1:]


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), stalls="stalls" in _words()))
