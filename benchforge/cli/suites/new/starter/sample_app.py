"""An app to measure, with Python alone. Put your own in its place.

    python3 sample_app.py --port 8000             one request at a time
    python3 sample_app.py --port 8000 --threads   up to 32 at a time

`application` is WSGI: gunicorn, uWSGI or waitress serve it as well, as sample_app:application.
"""

import argparse
import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor

THREADS = ThreadPoolExecutor(32)


def application(environ, start_response):
    """Answer a JSON document, after a wait such as that for a database."""
    at_root = environ["PATH_INFO"] == "/"
    if at_root:
        time.sleep(0.005)
    body = json.dumps({"message": "Hello, World!" if at_root else "there is only /"}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK" if at_root else "404 Not Found", headers)
    return [body]


# What follows serves it: a small server, which keeps connections as real ones do.


def answered(head):
    """Return the whole answer to a request, of which the application needs the path alone."""
    method, target, *_ = head.decode("latin-1").split()
    started = []
    environ = {"REQUEST_METHOD": method, "PATH_INFO": target.partition("?")[0]}
    body = b"".join(application(environ, lambda status, headers: started.extend((status, headers))))
    status, headers = started
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


async def talk(reader, writer, threads):
    """Answer a connection's requests until it is closed."""
    loop = asyncio.get_running_loop()
    try:
        closes = False
        while not closes:
            head = await reader.readuntil(b"\r\n\r\n")
            closes = b"\r\nconnection: close" in head.lower()
            if threads:
                answer = await loop.run_in_executor(THREADS, answered, head)
            else:
                answer = answered(head)  # nobody else is answered meanwhile
            writer.write(answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the other side has closed it
    finally:
        writer.close()


async def serve(port, threads):
    """Serve until a signal ends the process."""
    server = await asyncio.start_server(
        lambda reader, writer: talk(reader, writer, threads), "127.0.0.1", port, backlog=128
    )
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", action="store_true")
    options = parser.parse_args()
    asyncio.run(serve(options.port, options.threads))
