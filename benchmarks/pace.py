"""pace beside wrk: how fast, how punctual, and what each tool says of a server that freezes.

    .venv/bin/python benchmarks/pace.py [speed] [schedule] [freeze] [sample]

1. Closed loop against one worker of nginx, the tools in turn: requests/s, and requests per second
   of the tool's own CPU time, which neighbours on the machine disturb less.
2. Constant arrivals at three rates: how late pace itself noticed the time of a request.
3. nginx is stopped by SIGSTOP for 1 s in the middle of 6 s, under pace with a rate, pace in a
   closed loop, wrk and ab: what each says of its response times.

4. Closed loop with and without a sample of the answers, in turn: what it costs.

nginx has one CPU and the tool another, where there are two. Times on a shared machine are noise:
only what stands beside each other means something.
"""

import math
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchforge_loaders.pace.pace import Pace

from benchforge.plugin import Finished, Histogram, Output, Reading, Request, Target
from benchforge.run.locate import libraries, locate
from benchforge.stats.inference.interval import t_of_logs

PAIRS = 8
CONNECTIONS = 64
RATES = (100, 1000, 10_000)
FREEZE_AFTER_S, FREEZE_S, WHOLE_S = 2.5, 1.0, 6
FREEZE_RATE = 1000
SERVER_CPU, TOOL_CPU = "0", "1"
CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{ return 200 "Hello, World!"; }}
    }}
}}
"""


def main() -> None:
    """Measure what is asked for, or all; print it, and assert nothing."""
    asked = sys.argv[1:] or ["speed", "schedule", "freeze", "sample"]
    with tempfile.TemporaryDirectory() as name, nginx(Path(name)) as (url, workers):
        folder = Path(name)
        if "speed" in asked:
            speed(folder, url)
        if "schedule" in asked:
            schedule(folder, url)
        if "freeze" in asked:
            freeze(folder, url, workers)
        if "sample" in asked:
            sample(folder, url)


@contextmanager
def nginx(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Serve 13 bytes; yield the address and the pids of nginx."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder.chmod(0o755)
    configuration = folder / "nginx.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, port=port))
    path = found("nginx")[-1]
    server = subprocess.Popen([*on(SERVER_CPU), path, "-c", str(configuration)])
    try:
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
        yield f"http://127.0.0.1:{port}/", [server.pid, *map(int, children.split())]
    finally:
        server.terminate()
        server.wait()


def speed(folder: Path, url: str) -> None:
    """Print the requests/s of both, in turn."""
    print(
        f"closed loop, {CONNECTIONS} connections, 3 s: requests/s, and per second of own CPU time"
    )
    tools: Sequence[Callable[[], float]] = (
        lambda: paced(folder, url, "3s").responses / 3,
        lambda: wrk_rate(url),
    )
    pairs = []
    for pair in range(PAIRS):
        order = (0, 1) if pair % 2 else (1, 0)
        told = {which: with_own_cpu(tools[which]) for which in order}
        pairs.append((told[0][0] / told[1][0], told[0][1] / told[1][1]))
        for name, which in (("pace", 0), ("wrk", 1)):
            print(f"  {name} {told[which][0]:7.0f} {told[which][1]:7.0f}", end="  ")
        print("  ratios {:.2f} {:.2f}".format(*pairs[-1]), flush=True)
    for what, ratios in zip(
        ("requests/s", "per CPU second"), zip(*pairs, strict=True), strict=True
    ):
        center = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"  pace over wrk, {what}: {center:.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def sample(folder: Path, url: str) -> None:
    """Print the ratio of pace with a sample of 1 % to pace without, in turn."""
    print("closed loop, 3 s: with a sample of 1 % over without")
    pairs = []
    for pair in range(PAIRS):
        told = {}
        for options in ({"sample": "1%"}, {}) if pair % 2 else ({}, {"sample": "1%"}):
            told[len(options)] = with_own_cpu(partial(paced_rate, folder, url, options))
        pairs.append((told[1][0] / told[0][0], told[1][1] / told[0][1]))
        print("  ratios {:.3f} {:.3f}".format(*pairs[-1]), flush=True)
    for what, ratios in zip(
        ("requests/s", "per CPU second"), zip(*pairs, strict=True), strict=True
    ):
        of = t_of_logs([math.log(ratio) for ratio in ratios], "paired t of log-ratios", 0.95)
        print(f"  {what}: {of.value:.3f} (95 % interval {of.low:.3f} to {of.high:.3f})")


def paced_rate(folder: Path, url: str, options: Mapping[str, object]) -> float:
    """Return the requests/s of pace in a closed loop of 3 s."""
    return paced(folder, url, "3s", **options).responses / 3


def with_own_cpu(load: Callable[[], float]) -> tuple[float, float]:
    """Return the requests/s of a load of 3 s, and those per CPU second of the tool."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    rate = load()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return rate, rate * 3 / cpu_s


def schedule(folder: Path, url: str) -> None:
    """Print how late pace noticed that a request was due."""
    print("constant arrivals, 10 s: how late the request's time was noticed, in us")
    for rate in RATES:
        reading = paced(folder, url, "10s", rate=rate, arrivals="constant")
        told = reading.schedule
        if told is None or told.lateness is None or told.queueing is None:
            sys.exit("pace told no schedule")
        print(
            f"  {rate:6}/s  {told.intended} due, {told.sent} sent, {reading.responses} answered; "
            f"{shares(told.lateness)}; {told.queueing.count} waited for a connection",
            flush=True,
        )


def freeze(folder: Path, url: str, workers: Sequence[int]) -> None:
    """Print what each tool says of a server that stood still."""
    print(f"{WHOLE_S} s, of which nginx stands still for {FREEZE_S:g} s; response times in us")
    rated = f"{WHOLE_S}s"
    with frozen(workers):
        reading = paced(folder, url, rated, rate=FREEZE_RATE)
    tell(f"pace, {FREEZE_RATE}/s", reading)
    with frozen(workers):
        reading = paced(folder, url, rated)
    tell("pace, closed", reading)
    with frozen(workers):
        text = quietly(
            [*found("wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{WHOLE_S}s", "--latency", url]
        )
    said = re.findall(r"(\d+%) +(\S+)\n|(?:Latency) +(\S+) +(\S+) +(\S+)", text)
    print("  wrk, as it prints:", *(" ".join(filter(None, one)) for one in said), sep="  ")
    with frozen(workers):
        words = [*found("ab"), "-q", "-k", "-t", str(WHOLE_S), "-n", "10000000"]
        text = quietly([*words, "-c", str(CONNECTIONS), url])
    said = re.findall(r"^ +(50%|90%|99%|100%) +(\d+)", text, re.MULTILINE)
    print("  ab, as it prints, ms:", *(" ".join(one) for one in said), sep="  ")


@contextmanager
def frozen(workers: Sequence[int]) -> Iterator[None]:
    """Stop the processes for a while, a while after now."""

    def stand_still() -> None:
        time.sleep(FREEZE_AFTER_S)
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(FREEZE_S)
        for pid in workers:
            os.kill(pid, signal.SIGCONT)

    stopping = threading.Thread(target=stand_still)
    stopping.start()
    yield
    stopping.join()


def tell(name: str, reading: Reading) -> None:
    """Print one reading of pace."""
    if reading.latency is None or reading.in_flight is None or reading.service_time is None:
        sys.exit("pace told no latencies")
    print(f"  {name}: latency {shares(reading.latency)}")
    service = shares(reading.service_time)
    print(f"    service {service}, {reading.in_flight.count} in flight at the end")


def shares(histogram: Histogram) -> str:
    """Return the percentiles that people look at."""
    wanted = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
    told = [f"{name} {histogram.quantile(share)}" for name, share in wanted.items()]
    return f"{histogram.count} times: {', '.join(told)}, max {histogram.max_us}"


def paced(folder: Path, url: str, duration: str, **options: object) -> Reading:
    """Run pace and return its reading."""
    part = Pace.model_validate({"connections": CONNECTIONS, "duration": duration} | options)
    target = Target(url, Request(), folder, {}, Path(sys.executable))
    for name, text in part.files(target).items():
        (folder / name).write_text(text)
    (command,) = part.commands(target)
    out, err = folder / "out.txt", folder / "err.txt"
    with out.open("w") as stdout, err.open("w") as stderr:
        words = [*on(TOOL_CPU), *command.argv]
        code = subprocess.run(words, stdout=stdout, stderr=stderr, check=False).returncode
    return part.read(Output(target, (Finished(code, out, err, 0, 0, 0),)))


def wrk_rate(url: str) -> float:
    """Return the requests/s that wrk prints."""
    printed = quietly([*found("wrk"), "-t1", f"-c{CONNECTIONS}", "-d3s", url])
    rate = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    if rate is None:
        sys.exit("wrk printed no rate")
    return float(rate[1])


def found(name: str) -> list[str]:
    """Return the words that start a program, wherever it is."""
    path = locate(name) or shutil.which(name, path=f"{os.defpath}:/usr/sbin")
    if path is None:
        sys.exit(f"{name} is missing")
    words = [f"{key}={value}" for key, value in libraries(Path(path)).items()]
    return ["env", *words, str(path)]


def on(cpu: str) -> list[str]:
    """Return the words that keep a program on a CPU, where there are two."""
    return ["taskset", "-c", cpu] if (os.cpu_count() or 1) > 1 else []


def quietly(words: Sequence[str]) -> str:
    """Run a tool on its CPU and return what it printed; end here when it fails."""
    done = subprocess.run([*on(TOOL_CPU), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
