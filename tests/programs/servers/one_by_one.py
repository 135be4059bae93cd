"""Answers one request after the other, each after so many seconds. one_by_one.py PORT SECONDS

So its capacity is known: 1 / SECONDS a second, a little less for what Python does beside.
"""

import asyncio
import sys
import time

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[2])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\npong"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            time.sleep(SECONDS)  # the whole server stands still meanwhile
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", PORT)
    async with server:
        await server.serve_forever()


asyncio.run(main())
