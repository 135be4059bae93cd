"""Servers of HTTP/2, and of HTTP/1.1 beside it: `http2_faults.py PORT FAULT [KEY_AND_CERTIFICATE]`.

A fault is a name of FAULTS, of FRAMES, or `ends-5`: after so many answers a connection ends, and the
last one and the frame GOAWAY arrive together. Over HTTP/1.1 every answer is right.
"""

import asyncio, ssl, sys, time

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

RIGHT, WRONG = b"Hello World!", b"Hello Wurld!"
PREFACE = b"PRI * HTTP/2.0"
HTTP_1 = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n"
    b"Connection: close\r\n\r\n" + RIGHT
)
OPEN = set()
# By the number of the request on its connection, from 1, and the age of this: status and body.
FAULTS = {
    "none": lambda number, age_s: (200, RIGHT),
    "only": lambda number, age_s: (200, RIGHT),
    "status": lambda number, age_s: (203, RIGHT),
    "body": lambda number, age_s: (200, WRONG),
    "late": lambda number, age_s: (200, RIGHT if number < 20 else WRONG),
    "older": lambda number, age_s: (200, RIGHT if number < 200 else WRONG),
    "busy": lambda number, age_s: (200, WRONG if number > 200 and len(OPEN) > 2 else RIGHT),
    "aged": lambda number, age_s: (200, WRONG if age_s > 1 else RIGHT),
}


def frame(kind, payload=b"", flags=0, stream=0):
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


SETTINGS, STATUS_200 = frame(4), b"\x88"
HEADERS = SETTINGS + frame(1, STATUS_200, stream=1)
BOMB = SETTINGS + frame(1, STATUS_200 + b"\x40\1x\x7f\x81\x1f" + b"y" * 4096, 0, 1)
EVENTS = SETTINGS + frame(1, STATUS_200 + b"\x0f\x10\x11text/event-stream", 4, 1)
LONG = SETTINGS + frame(1, STATUS_200 + b"\x0f\x0d\1" + b"9", 4, 1)
# What is sent first, what again and again with a pause, and whether the connection then stays.
FRAMES = {
    "hangs": (b"", b"", 1),
    "hangs-after-settings": (SETTINGS, b"", 1),
    "closes": (b"", None, 0),
    "closes-after-settings": (SETTINGS, None, 0),
    "goaway": (SETTINGS + frame(7, bytes(4) + b"\0\0\0\x0b"), None, 0),
    "goaway-in-order": (SETTINGS + frame(7, bytes(8)), None, 0),
    "reset": (SETTINGS + frame(3, b"\0\0\0\x08", stream=1), None, 0),
    "http1": (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", None, 0),
    "preface": (frame(0, b"x", stream=1), None, 0),
    "nonsense": (b"no protocol that anybody speaks", None, 0),
    "huge-frame": (SETTINGS + b"\xff\xff\xff\0\0\0\0\0\1", b"x" * 65536, 0),
    "settings-flood": (SETTINGS, SETTINGS * 5000, 0),
    "ping-flood": (SETTINGS, frame(6, bytes(8)) * 3000, 0),
    "continuation-flood": (HEADERS, frame(9, b"\0\1x\1y" * 3000, stream=1), 0),
    "header-bomb": (BOMB, frame(9, b"\xbe" * 16000, stream=1), 0),
    "data-flood": (SETTINGS + frame(1, STATUS_200, 4, 1), frame(0, b"x" * 16000, stream=1), 0),
    "empty-data-flood": (SETTINGS + frame(1, STATUS_200, 4, 1), frame(0, b"", stream=1) * 5000, 0),
    "drips": (SETTINGS + frame(1, STATUS_200, 4, 1), frame(0, b"x", stream=1), 0.2),
    "events": (EVENTS, frame(0, b"data: x\n\n", stream=1), 0.2),
    "push": (SETTINGS + frame(5, b"\0\0\0\2" + STATUS_200, 4, 1), None, 0),
    "no-status": (SETTINGS + frame(1, b"\x0f\x10\4text", 5, 1), None, 0),
    "status-of-words": (SETTINGS + frame(1, b"\x08\3abc", 5, 1), None, 0),
    "length-too-long": (LONG + frame(0, b"x", 1, 1), None, 0),
    "other-stream": (SETTINGS + frame(1, STATUS_200, 5, 99), None, 0),
}


async def hurt(writer, first, again, pause):
    writer.write(first)
    while again is not None:
        writer.write(again)
        await writer.drain()
        await asyncio.sleep(pause)
    await writer.drain()


async def answer(reader, writer, data, fault):
    kind, _, most = fault.partition("-")
    wrong, most = FAULTS.get(kind, FAULTS["none"]), int(most or sys.maxsize)
    connection, number = H2Connection(H2Configuration(client_side=False)), 0
    connection.initiate_connection()
    begun = time.monotonic()
    while data:  # until the client closes: who closes first may reset
        for event in connection.receive_data(data) if number < most else ():
            if isinstance(event, RequestReceived) and number < most:
                number += 1
                status, body = wrong(number, time.monotonic() - begun)
                head = [(":status", str(status)), ("content-type", "text/plain")]
                head += [("content-length", str(len(body)))]
                connection.send_headers(event.stream_id, head)
                connection.send_data(event.stream_id, body, end_stream=True)
                if number == most:
                    connection.close_connection()
        await asyncio.sleep(0.001)
        writer.write(connection.data_to_send())
        data = await reader.read(65536)


async def serve(reader, writer):
    fault = sys.argv[2]
    try:
        data = await reader.read(65536)
        OPEN.add(writer)
        if fault in FRAMES:
            await hurt(writer, *FRAMES[fault])
            if writer.can_write_eof():
                writer.write_eof()
                while await reader.read(65536):  # who closes first may reset
                    pass
        elif data.startswith(PREFACE) or fault == "only":
            await answer(reader, writer, data, fault)
        elif data:
            writer.write(HTTP_1)
            await writer.drain()
    except (OSError, Exception if fault == "only" else OSError):
        pass  # who asks leaves, or speaks otherwise
    OPEN.discard(writer)
    writer.close()


async def main():
    tls = None
    if sys.argv[3:]:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[3])
        tls.set_alpn_protocols(["h2"] if sys.argv[2] == "only" else ["h2", "http/1.1"])
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), ssl=tls)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
