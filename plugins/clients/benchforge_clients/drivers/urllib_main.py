"""urllib.request: urlopen and read; each request has a connection of its own."""

import socket
import urllib.error
import urllib.request

from protocol import Connections, Load, decoded, in_threads, plan, tls


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


told = plan(__doc__)
connections = Connections().of(socket.socket)
context = urllib.request.HTTPSHandler(context=tls(told))
# Made once: urlopen would make one for each request if it were given a context.
urllib.request.install_opener(urllib.request.build_opener(context, NoRedirects))


def ask(number):
    # urlopen makes such a request of an address.
    request = urllib.request.Request(  # noqa: S310 - the address is the suite's
        told.url, told.payload, told.headers, method=told.method
    )
    try:
        response = urllib.request.urlopen(request, timeout=told.timeout)  # noqa: S310
    except urllib.error.HTTPError as error:  # it is an answer too
        response = error
    with response:
        return response.status, decoded(told, response.read())


load = Load(told, "urllib", "", connections)
load.run(in_threads(told, [ask] * told.concurrency))
