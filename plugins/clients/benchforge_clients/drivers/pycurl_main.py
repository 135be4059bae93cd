"""pycurl: as study PC, or many transfers in one thread."""

import io
import time

from protocol import Connections, Load, decoded, importing, in_threads, plan

with importing():
    import pycurl

told = plan(__doc__, ("reuse-nobody", "reuse-buffer", "noreuse-buffer", "newhandle", "multi"))
connections = Connections()
SIZE = getattr(pycurl, "SIZE_DOWNLOAD_T", pycurl.SIZE_DOWNLOAD)  # the older one is deprecated
lines = [f"{name}: {value.strip()}" for name, value in told.headers.items()]


def configured(handle):
    """Set what the handle is to ask for, and what it trusts."""
    handle.setopt(pycurl.URL, told.url)
    handle.setopt(pycurl.NOSIGNAL, 1)  # a time limit without signals: they are not for threads
    handle.setopt(pycurl.TIMEOUT_MS, int(told.timeout * 1000))
    if told.method == "HEAD":
        handle.setopt(pycurl.NOBODY, 1)
    elif told.payload is not None:
        handle.setopt(pycurl.POSTFIELDS, told.payload)
    if told.method not in {"GET", "HEAD"} or told.payload is not None:
        handle.setopt(pycurl.CUSTOMREQUEST, told.method)
    if lines:
        handle.setopt(pycurl.HTTPHEADER, lines)
    if not told.verify:
        handle.setopt(pycurl.SSL_VERIFYPEER, 0)
        handle.setopt(pycurl.SSL_VERIFYHOST, 0)
    elif told.ca_file:
        handle.setopt(pycurl.CAINFO, told.ca_file)
    return handle


def note_connections(handle):
    # Counted by libcurl before it is connected: without a time of connecting, it never was.
    if handle.getinfo(pycurl.CONNECT_TIME) > 0:
        connections.add(handle.getinfo(pycurl.NUM_CONNECTS))


def performed(handle):
    try:
        handle.perform()
    finally:
        note_connections(handle)
    return handle.getinfo(pycurl.RESPONSE_CODE)


def nobody():
    handle = configured(pycurl.Curl())
    handle.setopt(pycurl.WRITEFUNCTION, lambda _: None)

    def ask(number):
        return performed(handle), int(handle.getinfo(SIZE))

    return ask


def buffered():
    handle = configured(pycurl.Curl())
    if told.mode == "noreuse-buffer":
        handle.setopt(pycurl.FORBID_REUSE, 1)

    def ask(number):
        buffer = io.BytesIO()
        handle.setopt(pycurl.WRITEDATA, buffer)
        status = performed(handle)
        body = buffer.getvalue()
        buffer.close()
        return status, decoded(told, body)

    return ask


def new():
    def ask(number):
        buffer = io.BytesIO()
        handle = configured(pycurl.Curl())
        handle.setopt(pycurl.DNS_USE_GLOBAL_CACHE, 1)
        buffer = io.BytesIO()  # as study PC: twice
        handle.setopt(pycurl.WRITEDATA, buffer)
        status = performed(handle)
        body = buffer.getvalue()
        buffer.close()
        return status, decoded(told, body)

    return ask


def in_one_thread():
    """Keep as many transfers going as there are handles; each is timed as the others are."""
    multi = pycurl.CurlMulti()
    handles = [configured(pycurl.Curl()) for _ in range(told.concurrency)]

    def begin(handle):
        handle.buffer = io.BytesIO()
        handle.setopt(pycurl.WRITEDATA, handle.buffer)
        handle.begun = time.perf_counter_ns()
        multi.add_handle(handle)

    def end(handle, tally, failure=None):
        multi.remove_handle(handle)
        note_connections(handle)
        if failure is not None:
            tally.failed(failure)
            return
        length = decoded(told, handle.buffer.getvalue())
        status = handle.getinfo(pycurl.RESPONSE_CODE)
        tally.answered(status, length, time.perf_counter_ns() - handle.begun)

    def load(turns, tally):
        free = list(handles)
        while True:
            while free and next(turns, None) is not None:
                begin(free.pop())
            if len(free) == len(handles):
                return
            multi.select(1.0)
            multi.perform()
            _, ended, failed = multi.info_read()
            for handle in ended:
                end(handle, tally)
            for handle, code, said in failed:
                end(handle, tally, pycurl.error(code, said))
            free += [*ended, *(handle for handle, *_ in failed)]

    return load


load = Load(told, "pycurl", pycurl.version.partition(" ")[0].partition("/")[2], connections)
if told.mode == "multi":
    load.run(in_one_thread())
else:
    makers = {"reuse-nobody": nobody, "newhandle": new}
    maker = makers.get(told.mode, buffered)
    load.run(in_threads(told, [maker() for _ in range(told.concurrency)]))
