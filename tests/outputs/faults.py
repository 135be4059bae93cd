"""A small HTTP server that misbehaves by path: what the recordings beside it were made against.

    python faults.py PORT [stalls|slowly]

With `stalls` it stands still for 200 ms of each second; with `slowly` each answer waits 10 ms. When
it is stopped with SIGTERM it prints how many connections it accepted, and how many requests came.
"""

import asyncio
import signal
import socket
import struct
import sys
import time

BODY = b"Hello, World!\n"
SLOW_S = 0.2
LATE_S = 1.5
BRIEF_S = 0.01


class Faults:
    """Answers requests; `accepted` counts the connections, `asked` the requests."""

    def __init__(self, wait_s: float) -> None:
        self.accepted = 0
        self._wait_s = wait_s
        self.asked = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until either side closes it."""
        self.accepted += 1
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        method, path, version = head.split("\r\n", 1)[0].split(" ")
        body = await reader.readexactly(_length(head))
        if path == "/echo":
            sys.stderr.write(f"{' '.join(head.split())} | {body.decode()}\n")
        self.asked += 1
        number = self.asked
        await asyncio.sleep(_wait_s(path, number) or self._wait_s)
        if path == "/empty":
            return False
        if path == "/reset" and number % 50 == 0:
            _reset(writer)
            return False
        status, body = _reply(path, number)
        cut = path == "/halves" or (path == "/half" and number % 10 == 0)
        keeps = "connection: keep-alive" in head or version == "http/1.1"
        reason = "" if path == "/wordless" else "X"
        writer.write(
            f"HTTP/1.1 {status} {reason}\r\nServer: faults/1\r\nContent-Length: {len(body)}\r\n"
            f"Connection: {'keep-alive' if keeps else 'close'}\r\n\r\n".encode()
        )
        writer.write(b"" if method == "head" else body[: len(body) // 2] if cut else body)
        await writer.drain()
        return keeps and not cut and path != "/closes"


def _length(head: str) -> int:
    return int(head.partition("content-length:")[2].partition("\r\n")[0] or 0)


def _wait_s(path: str, number: int) -> float:
    if path == "/late" and number % 20 == 0:
        return LATE_S
    return {"/hang": 60.0, "/slow": SLOW_S}.get(path, 0)


def _reply(path: str, number: int) -> tuple[int, bytes]:
    if path == "/broken" or (path == "/mixed" and number % 2):
        return 500, b"broken"
    if path == "/missing":
        return 404, b"missing"
    if path == "/unavailable":
        return (503 if number % 2 else 200), BODY
    return 200, BODY * (1 + number % 7) if path == "/variable" else BODY


def _reset(writer: asyncio.StreamWriter) -> None:
    # Closing with a linger time of zero sends RST instead of FIN.
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def _stall_each_second() -> None:
    while True:
        await asyncio.sleep(1 - SLOW_S)
        time.sleep(SLOW_S)  # noqa: ASYNC251  # the whole server stands still


async def main(port: int, mode: str) -> None:
    """Serve until SIGTERM."""
    faults = Faults(BRIEF_S if mode == "slowly" else 0)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await asyncio.start_server(faults.serve, "127.0.0.1", port, backlog=1024)
    stalling = asyncio.ensure_future(_stall_each_second()) if mode == "stalls" else None
    await stopped.wait()
    if stalling:
        stalling.cancel()
    sys.stdout.write(f"{faults.accepted} {faults.asked}\n")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), "".join(sys.argv[2:])))
