"""Answers "pong", and stalls: the whole of it, a single request now and then, or each request."""

import argparse
import asyncio
import time

LIFETIME_S = 120
STALL_S = 0.5
WAIT_S = 0.005  # before each answer: a load then leaves the CPUs to other tests
EVERY_S = {"whole": 2.0, "single": 1.0, "each": 0.0}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n"

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--way", choices=EVERY_S, required=True)
options = parser.parse_args()
next_stall = time.monotonic() + EVERY_S[options.way]


async def stall():
    global next_stall
    if time.monotonic() < next_stall:
        return
    next_stall = time.monotonic() + EVERY_S[options.way]
    if options.way == "whole":
        time.sleep(STALL_S)
    else:
        await asyncio.sleep(STALL_S)


async def answer(reader, writer):
    while await reader.readline():
        while (await reader.readline()).strip():
            pass
        await stall()
        await asyncio.sleep(WAIT_S)
        writer.write(HEAD + b"pong")
    writer.close()


async def main():
    await asyncio.start_server(answer, "127.0.0.1", options.port)
    await asyncio.sleep(LIFETIME_S)


asyncio.run(main())
