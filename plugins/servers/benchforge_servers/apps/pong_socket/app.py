"""Pong! for servers of raw sockets, of study WS: they send it and close the connection."""

HEAD = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n"


class Pong:
    reads = True

    def answer(self):
        return HEAD + b"Pong!"


class PublishedPong:
    # As published: the request is never read, so closing may reset the connection and take the
    # answer with it; and two bytes more are sent than were declared.
    reads = False

    def answer(self):
        return HEAD + b"Pong!\r\n"


app = Pong()
published = PublishedPong()
