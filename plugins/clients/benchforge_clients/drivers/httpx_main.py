"""httpx: its client in threads, or its asynchronous one in tasks."""

import asyncio
import socket

from protocol import Connections, Load, decoded, importing, in_tasks, in_threads, plan, tls

told = plan(__doc__, ("sync", "async"))
with importing():
    import httpx

    if told.mode == "async":
        import anyio.lowlevel  # httpx would import it in the first request

connections = Connections()
# Without an option of ours httpx trusts what it always does.
trust = tls(told) if told.ca_file or not told.verify else True
request = {"method": told.method, "url": told.url, "content": told.payload}
request["headers"] = told.headers
options = {"verify": trust, "timeout": told.timeout}
load = Load(told, "httpx", httpx.__version__, connections)


def asking():
    client = httpx.Client(**options)

    def ask(number):
        response = client.request(**request)
        return response.status_code, decoded(told, response.content)

    return ask


async def asynchronously():
    limits = httpx.Limits(max_connections=max(100, told.concurrency))
    async with httpx.AsyncClient(**options, limits=limits) as client:

        async def ask(number):
            response = await client.request(**request)
            return response.status_code, decoded(told, response.content)

        await anyio.lowlevel.checkpoint()  # it would load its backend in the first request
        await load.run_async(in_tasks(asyncio.gather, ask, told))


if told.mode == "sync":
    connections.of(socket.socket)
    load.run(in_threads(told, [asking() for _ in range(told.concurrency)]))
else:
    connections.of_asyncio(asyncio.SelectorEventLoop)
    asyncio.run(asynchronously())
