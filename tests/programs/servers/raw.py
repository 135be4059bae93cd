"""Writes down each request as it arrives: `raw.py PORT LOG`, a line of JSON each: head, body, framing.

The framing is `length`, `chunked` or empty. It answers all alike, HEAD without the body.
"""

import asyncio
import json
import sys
from pathlib import Path

BODY = b"ok."


async def requests(reader, writer, log):
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
            }
            body, framing = b"", ""
            if "chunked" in fields.get("transfer-encoding", ""):
                framing = "chunked"
                while size := int(await reader.readline(), 16):
                    body += (await reader.readexactly(size + 2))[:-2]
                await reader.readline()
            elif "content-length" in fields:
                framing = "length"
                body = await reader.readexactly(int(fields["content-length"]))
        except (asyncio.IncompleteReadError, ConnectionError):
            break
        log.write(json.dumps([head, body.decode("latin-1"), framing]) + "\n")
        log.flush()
        keeps = fields.get("connection", "").lower() != "close"
        if head.partition("\r\n")[0].endswith("1.0"):
            keeps = fields.get("connection", "").lower() == "keep-alive"
        await asyncio.sleep(0.003)
        fields = b"Content-Type: text/plain\r\nContent-Length: 3\r\nConnection: %s\r\n\r\n"
        answer = b"HTTP/1.1 200 OK\r\n" + fields % (b"keep-alive" if keeps else b"close")
        writer.write(answer + (b"" if head.startswith("HEAD ") else BODY))
        await writer.drain()
        if not keeps:
            break
    writer.close()


async def main(port, path):
    with Path(path).open("a") as log:
        server = await asyncio.start_server(lambda r, w: requests(r, w, log), "127.0.0.1", port)
        await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
