"""Tornado: its simple client, or the one by libcurl, in tasks that follow one another."""

import asyncio
import socket

from protocol import Connections, Load, decoded, importing, in_tasks, plan

told = plan(__doc__, ("simple", "curl"))
with importing():
    import tornado
    from tornado.httpclient import AsyncHTTPClient, HTTPRequest
    from tornado.iostream import IOStream

    if told.mode == "curl":
        import pycurl

connections = Connections()
if told.mode == "simple":
    connect = IOStream.connect

    def counted(self, *address, **options):
        future = connect(self, *address, **options)
        future.add_done_callback(lambda done: done.exception() or connections.add())
        return future

    IOStream.connect = counted


def count_sockets(curl):
    """Count what libcurl opens, before it is connected."""

    def opened(purpose, address):
        connections.add()
        return socket.socket(address.family, address.socktype, address.protocol)

    curl.setopt(pycurl.OPENSOCKETFUNCTION, opened)


async def main():
    of = {"simple": "simple_httpclient.SimpleAsyncHTTPClient"}
    of["curl"] = "curl_httpclient.CurlAsyncHTTPClient"
    AsyncHTTPClient.configure(f"tornado.{of[told.mode]}", max_clients=told.concurrency)
    client = AsyncHTTPClient()
    options = {"body": told.payload, "headers": told.headers, "follow_redirects": False}
    options |= {"validate_cert": told.verify, "ca_certs": told.ca_file}
    options |= {"connect_timeout": told.timeout, "request_timeout": told.timeout}
    if told.mode == "curl":
        options["prepare_curl_callback"] = count_sockets

    async def ask(number):
        request = HTTPRequest(told.url, told.method, allow_nonstandard_methods=True, **options)
        response = await client.fetch(request, raise_error=False)
        return response.code, decoded(told, response.body)

    async def workers(turns, tally):
        await in_tasks(asyncio.gather, ask, told)(turns, tally)
        if tally.errors and told.mode == "curl":
            connections.unknown("libcurl tells of sockets, and some were not connected")

    await load.run_async(workers)


load = Load(told, "tornado", tornado.version, connections)
asyncio.run(main())
