"""Put load on an HTTP/1.1 server and print one JSON document of what was seen."""

import argparse
import gc
import json
import os
import resource
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

from flow_steps import Flows
from pace_loop import Loop
from pace_stages import parsed as stages_of
from pace_tally import BIN_NS, merged

SECOND = 1_000_000_000
# Every process is ready before the first request is due.
HEAD_START_NS = 20_000_000
SPARE_FILES = 64


def main(form, python):
    """Load as the arguments say; `form` and `python` are of the document."""
    options = parsed()
    plan = planned(options)
    allow_files(options.connections)
    gc_off()
    parts = run(plan)
    about = {"pace": form, "python": python}
    print(json.dumps({**about, **document(plan, parts)}, separators=(",", ":")))


def parsed():
    parser = argparse.ArgumentParser(prog="pace", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--connections", type=int, default=64, help="at most")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--duration", type=float, default=10.0, help="seconds, at most")
    parser.add_argument("--requests", type=int, help="at most")
    parser.add_argument("--rate", type=float, help="requests/s; a closed loop without it")
    parser.add_argument("--stages", type=stages_of, help="BEGIN:END:SECONDS,... of rates")
    parser.add_argument("--arrivals", choices=["constant", "poisson"], default="poisson")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=float, default=0.0, help="share of the responses")
    parser.add_argument("--sample-seed", type=int, default=1)
    parser.add_argument("--think", type=float, default=0.0, help="seconds")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds")
    parser.add_argument("--close", action="store_true", help="a connection for each request")
    parser.add_argument("--method", default="GET")
    parser.add_argument("--header", action="append", default=[], metavar="NAME: VALUE")
    parser.add_argument("--head", metavar="FILE", help="METHOD PATH, then NAME: VALUE, a line each")
    parser.add_argument("--body", metavar="FILE")
    parser.add_argument("--stream", metavar="FILE", help="requests to send; FILE.index beside it")
    parser.add_argument("--kinds", type=int, default=1, help="of requests in the stream")
    parser.add_argument("--turns", metavar="FOLDER", help="pipes go and done; see pace.md")
    parser.add_argument("--ca-file", help="PEM of what is trusted; the system's without it")
    parser.add_argument("--no-verify", action="store_true")
    return parser.parse_args()


def read_head(options):
    """Take over what stands in a file: arguments can be read by everybody on the machine."""
    first, *options.header = Path(options.head).read_text().splitlines()
    options.method, _, path = first.partition(" ")
    options.url = options.url.rstrip("/") + path


def reached(found):
    """Return the first address that takes a connection: localhost may have two."""
    for entry in found[:-1]:
        with socket.socket(*entry[:2]) as trying:
            if trying.connect_ex(entry[4]) == 0:
                return entry
    return found[-1]


def planned(options):
    try:
        if options.head is not None:
            read_head(options)
    except OSError as error:
        sys.exit(f"pace: {error.filename}: {error.strerror}")
    url = urlsplit(options.url)
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 80)
    try:
        found = reached(socket.getaddrinfo(url.hostname, port, type=socket.SOCK_STREAM))
        context = trust(options) if secure else None
        request = request_of(options, url)
        per_record = 1.0 if options.stream is None else Flows(options.stream).per_record
    except OSError as error:
        where = error.filename or url.hostname or options.url
        sys.exit(f"pace: {where}: {error.strerror or error}")
    return SimpleNamespace(
        **vars(options),
        family=found[0],
        address=found[4],
        host=url.hostname,
        context=context,
        request=request,
        bodiless=options.method == "HEAD",
        keep_alive=not options.close,
        per_record=per_record,
        duration_ns=round(options.duration * SECOND),
        think_ns=round(options.think * SECOND),
        timeout_ns=round(options.timeout * SECOND),
    )


def trust(options):
    import ssl  # noqa: PLC0415 - imported already: see pace_main

    try:
        context = ssl.create_default_context(cafile=options.ca_file)
    except OSError as error:
        sys.exit(f"pace: {options.ca_file}: {error.strerror or error}")
    if options.no_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def request_of(options, url):
    """Return the bytes of the request, the same ones each time."""
    body = b""
    if options.body is not None:
        body = Path(options.body).read_bytes()
    given = {line.partition(":")[0].strip().lower() for line in options.header}
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = [f"{options.method} {path} HTTP/1.1"]
    if "host" not in given:
        lines.append(f"Host: {url.netloc.rpartition('@')[2]}")
    lines += options.header
    if options.body is not None and not given & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    if options.close and "connection" not in given:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode() + body


def allow_files(connections):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FILES
    if hard != resource.RLIM_INFINITY and wanted > hard:
        sys.exit(f"pace: {connections} connections need {wanted} open files, allowed are {hard}")
    if soft != resource.RLIM_INFINITY and wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def gc_off():
    """Let no collection stop the load. PyPy needs its own, which never stops for long."""
    if sys.implementation.name == "cpython":
        gc.collect()
        gc.disable()


def run(plan):
    """Return what each process counted."""
    begin = time.monotonic_ns() + HEAD_START_NS * plan.processes
    if plan.processes == 1:
        return [load(plan, 0, begin)]
    children = [forked(plan, part, begin) for part in range(plan.processes)]
    return [collected(pid, end) for pid, end in children]


def load(plan, part, begin):
    loop = Loop(plan, part, begin)
    if plan.turns is None:
        seconds, tally = loop.run()
    else:
        pipes = Path(plan.turns)
        with (pipes / "go").open() as go, (pipes / "done").open("w") as done:
            seconds, tally = loop.run_in_turns(go, done)
    course = {} if loop.course is None else loop.course.printed()
    if loop.stream is None:
        return seconds, {**tally.printed(), **course}
    loop.stream.into(tally)
    return seconds, {**tally.printed(), **course, **loop.stream.printed()}


def forked(plan, part, begin):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        os.close(reading)
        with os.fdopen(writing, "w") as file:
            json.dump(load(plan, part, begin), file)
        code = 0
    finally:
        os._exit(code)


def collected(pid, end):
    with os.fdopen(end) as file:
        text = file.read()
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(f"pace: one of its processes ended with status {status}")
    return json.loads(text)


def document(plan, parts):
    return {
        "seconds": max(seconds for seconds, _ in parts),
        "bin_ns": BIN_NS,
        "rate": plan.rate,
        "timeout_us": plan.timeout_ns // 1000,
        **merged([part for _, part in parts]),
    }
