"""A server of HTTP/2 without TLS that ends each connection: `goaway.py PORT REQUESTS`.

The last response of a connection and the frame GOAWAY arrive together, as where a server limits the
requests of a connection.
"""

import asyncio
import sys

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

BODY = b"ok\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int) -> None:
    """Answer as many requests, and no more."""
    connection = H2Connection(H2Configuration(client_side=False))
    connection.initiate_connection()
    answered = 0
    while data := await reader.read(65_536):  # until the client closes: who closes first may reset
        for event in connection.receive_data(data) if most else ():
            if isinstance(event, RequestReceived) and answered < most:
                answered += 1
                head = [(":status", "200"), ("content-length", str(len(BODY)))]
                connection.send_headers(event.stream_id, head)
                connection.send_data(event.stream_id, BODY, end_stream=True)
        await asyncio.sleep(0.001)
        if answered == most:
            connection.close_connection()
            most = 0
        writer.write(connection.data_to_send())
    writer.close()


async def main(port: int, most: int) -> None:
    """Serve until the process is stopped."""
    server = await asyncio.start_server(lambda r, w: serve(r, w, most), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
