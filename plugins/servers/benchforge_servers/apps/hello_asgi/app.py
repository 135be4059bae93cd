"""Hello World! as a bare ASGI callable, beside those of study WS."""

BODY = b"Hello World!"


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await live(receive, send)
    elif scope["type"] == "http" and scope["path"] != "/":
        await reply(send, 404, b"")
    elif scope["type"] == "http" and scope["method"] != "GET":
        await reply(send, 405, b"")
    elif scope["type"] == "http":
        await reply(send, 200, BODY)


async def live(receive, send):
    """Take part in the start and the end of the server, though there is nothing to do."""
    while (await receive())["type"] == "lifespan.startup":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})


async def reply(send, status, body):
    headers = [(b"content-type", b"text/html"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
