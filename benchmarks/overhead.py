"""What benchforge adds around a load tool, in one session; with --taurus, what Taurus adds, too.

    .venv/bin/python benchmarks/overhead.py [--taurus]

1. A suite of ten 1-second wrk trials against one running server, minus ten times bare wrk; the
   same for ten 1-second ab loads through Taurus (bzt), minus ten times bare ab. Per trial.
2. A suite of ten 1-second wrk trials that start the server each, beside a bare loop that starts
   the same server, waits until it accepts, runs wrk, and ends it. Both in turn, twice.
3. The rate that wrk reports through benchforge over what bare wrk reports, interleaved.
4. A suite of ten blocks in which two such servers take turns, beside two rounds of the bare loop
   for each block; and the time of a block by stage.

Times on a shared machine are noise: only the two columns beside each other mean something. While
another benchforge measures, ours waits and calls again; that wait is in no time.
Taurus is installed into an environment of its own, `.tools/bzt`: its first start needs the network.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchforge_reporters.raw import block_times

from benchforge.model.files.folder import read_trials
from benchforge.run.locate import libraries, locate
from benchforge.stats.inference.hodges_lehmann import ratio

ROOT = Path(__file__).resolve().parents[1]
SERVERS = ROOT / "plugins/servers/benchforge_servers"
WORDS = [sys.executable, str(SERVERS / "runners/aiohttp_main.py"), "--host=127.0.0.1"]
WORDS += [f"--directory={SERVERS / 'apps/aiohttp_agents'}", "--backlog=128", "app:app"]
TRIALS = 10
PAIRS = 10
CONNECTIONS = 8
ROUNDS = 2
MOST_S, MOST_INSIDE_S = 0.053, 0.0139
"Own time of a trial that no change may exceed, in all and inside, on a quiet machine."

SUITE = """
benchforge = 1
[servers.running]
use = "url"
url = "{url}"
[servers.started]
use = "command"
command = {command}
[loaders.wrk]
use = "wrk"
connections = {connections}
duration = "1s"
[scenarios.index]
request = {{ path = "/index" }}
servers = {servers}
loaders = ["wrk"]
[repeat]
blocks = {blocks}
"""
TURNS = """interleave = "50ms"
each = "1s"
quiet = "off"
[servers.second]
use = "command"
command = {command}
"""


def main() -> None:
    """Measure all, print all, assert nothing."""
    parser = argparse.ArgumentParser(description="What benchforge adds around a load tool.")
    parser.add_argument("--taurus", action="store_true", help="measure Taurus, too")
    with_taurus = parser.parse_args().taurus
    wrk = program("wrk")
    with tempfile.TemporaryDirectory() as name, server() as url:
        folder = Path(name)
        bare_wrk = [*wrk, "-t1", f"-c{CONNECTIONS}", "-d1s", f"{url}/index"]
        ours, each, probes, gates = overhead_of_benchforge(folder, url, bare_wrk)
        print(f"own time per trial, {TRIALS} one-second trials in one call")
        show("benchforge around wrk, start-up and report shared out", ours, MOST_S)
        show("  inside a trial, by its own clock", each, MOST_INSIDE_S)
        show("  not counted: asking before and after the load", probes)
        show("  not counted: quiet gates between trials", gates)
        if with_taurus:
            theirs = overhead_of_taurus(folder, url)
            show("Taurus around ab, start-up and report shared out", theirs)
            print(f"  Taurus over benchforge: {theirs / ours:.1f} times")
        ratios = rates(folder, url, bare_wrk)
        each, alone, trial = overhead_with_a_server(folder, url, bare_wrk[:-1])
        print("wall time of a trial that starts its server, and of a bare loop that does the same")
        show("benchforge, start-up and report shared out", each)
        show("  of which in its trials, by its own clock", trial)
        show("the loop", alone)
        print(f"  benchforge over the loop: {each / alone:.3f} times")
        in_turns(folder, url, bare_wrk[:-1])
    mean = ratio(ratios, [1.0] * len(ratios))
    print(f"requests/s that wrk reports through benchforge over bare wrk, {PAIRS} pairs")
    print(f"  {mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f}, 95 %)")


def show(text: str, seconds: float, most_s: float | None = None) -> None:
    """Print a time, and the most that it may be on a quiet machine."""
    most = "" if most_s is None else f" (at most {1000 * most_s:g})"
    print(f"  {text:<53} {1000 * seconds:8.1f} ms{most}", flush=True)


def program(name: str) -> list[str]:
    """Return the words that start a load tool, wherever it was found."""
    path = locate(name)
    if path is None:
        sys.exit(f"{name} is missing: run `make setup`")
    words = [f"{key}={value}" for key, value in libraries(path).items()]
    return ["env", *words, str(path)]


def taurus() -> str:
    """Return where bzt is, in an environment of its own."""
    environment = ROOT / ".tools/bzt"
    bzt = environment / "bin/bzt"
    if not bzt.exists():
        print(f"installing Taurus (bzt) into {environment.relative_to(ROOT)}", flush=True)
        uv = shutil.which("uv") or str(ROOT / ".tools/uv/bin/uv")
        quietly([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(environment)])
        python = str(environment / "bin/python")
        quietly([uv, "pip", "install", "--quiet", "--python", python, "bzt", "setuptools"])
    return str(bzt)


@contextmanager
def server() -> Iterator[str]:
    """Serve /index on a free port of loopback; yield the root."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*WORDS, f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(2000):
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.005)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def overhead_of_benchforge(
    folder: Path, url: str, bare: Sequence[str]
) -> tuple[float, float, float, float]:
    """Return seconds per trial beside the load: in all, inside the trial, asking, and waiting."""
    suite = folder / "suite.toml"
    suite.write_text(suite_of("running", TRIALS, url))
    both = took(lambda: quietly(run(suite, folder / "results")))
    alone = took(lambda: [quietly(bare) for _ in range(TRIALS)])
    trials = good_trials(folder / "results")
    asking = sum(trial["phases"][name] for trial in trials for name in ("ask", "probes", "finish"))
    count = len(trials)  # what noise disturbed is repeated
    probes = asking / count
    gates = sum(trial["phases"]["quiet"] for trial in trials) / count
    # wrk ends on a beat of 100 ms, which blurs the difference of the two; this is free of it.
    beside = [trial["seconds"] - trial["observation"]["seconds"] for trial in trials]
    each = sum(beside) / count - probes - gates
    return both / count - alone / TRIALS - probes - gates, each, probes, gates


def good_trials(results: Path) -> list[Any]:
    """Return the trials of the only result in a folder; end here when one failed."""
    (result,) = results.iterdir()
    trials = [json.loads(path.read_text()) for path in sorted(result.glob("trials/*/trial.json"))]
    if len(trials) < TRIALS or any(trial["failure"] for trial in trials):
        sys.exit(f"expected {TRIALS} good trials in {result}")
    return trials


def overhead_with_a_server(
    folder: Path, url: str, bare: Sequence[str]
) -> tuple[float, float, float]:
    """Return seconds per load: of a run, of a loop without benchforge, and of a run's trials."""
    suite = folder / "started.toml"
    suite.write_text(suite_of("started", TRIALS, url))
    ours, loops, inside = [], [], []
    for number in range(ROUNDS):
        results = folder / f"started{number}"
        whole_s = took(lambda results=results: quietly(run(suite, results)))  # type: ignore[misc]
        trials = good_trials(results)
        ours.append(whole_s / len(trials))  # noise is repeated
        inside.append(statistics.fmean(trial["seconds"] for trial in trials))
        loops.append(took(lambda: bare_loop(bare)) / TRIALS)
    return statistics.fmean(ours), statistics.fmean(loops), statistics.fmean(inside)


def bare_loop(bare: Sequence[str]) -> None:
    """Start the server, load it and end it, so often as a run does."""
    for _ in range(TRIALS):
        with server() as url:
            quietly([*bare, f"{url}/index"])


def in_turns(folder: Path, url: str, bare: Sequence[str]) -> None:
    """Print what a block of two servers in turns takes, by stage, and what two bare loops take."""
    suite, results = folder / "turns.toml", folder / "turns"
    suite.write_text(suite_of("started", TRIALS, url, more=("second",)))
    whole_s = took(lambda: quietly(run(suite, results))) / TRIALS
    loop_s = 2 * took(lambda: bare_loop(bare)) / TRIALS
    print("wall time of a block of two servers in turns, and of two rounds of the bare loop")
    show("benchforge, start-up and report shared out", whole_s)
    for stage, _, seconds in block_times(read_trials(next(results.iterdir()))):
        show(f"  {stage}", seconds)
    show("the loops", loop_s)
    print(f"  benchforge over the loops: {whole_s / loop_s:.3f} times")


def suite_of(label: str, blocks: int, url: str, more: Sequence[str] = ()) -> str:
    """Return the suite of one of the two servers, or of more that take turns with it."""
    words = {"command": json.dumps([*WORDS, "--port={port}"]), "connections": CONNECTIONS}
    text = SUITE + TURNS if more else SUITE
    return text.format(servers=json.dumps([label, *more]), blocks=blocks, url=url, **words)


def overhead_of_taurus(folder: Path, url: str) -> float:
    """Return seconds per load beside the load."""
    bzt, bare = taurus(), [*program("ab"), "-q", "-k", "-t", "1", "-n", "10000000"]
    bare += ["-c", str(CONNECTIONS), f"{url}/index"]
    config = folder / "taurus.json"
    one = {
        "executor": "ab",
        "concurrency": CONNECTIONS,
        "hold-for": "1s",
        "scenario": {"requests": [f"{url}/index"], "keepalive": True},
    }
    path = locate("ab")
    modules = {"ab": {"path": str(path)}, "local": {"sequential": True}}
    settings = {"artifacts-dir": str(folder / "artifacts"), "check-updates": False}
    plan = {"execution": [one] * TRIALS, "modules": modules, "settings": settings}
    config.write_text(json.dumps(plan))
    more = libraries(path) if path else {}
    both = took(lambda: quietly([bzt, "-q", str(config)], more))
    alone = took(lambda: [quietly(bare) for _ in range(TRIALS)])
    return (both - alone) / TRIALS


def rates(folder: Path, url: str, bare: Sequence[str]) -> list[float]:
    """Return, pair by pair, wrk's requests/s through benchforge over those of bare wrk."""
    suite = folder / "one.toml"
    suite.write_text(suite_of("running", 1, url))
    ratios = []
    for pair in range(PAIRS):
        results = folder / f"pair{pair}"
        if pair % 2:
            alone = rate_of(bare)
            ratios.append(rate_through(suite, results) / alone)
        else:
            ratios.append(rate_through(suite, results) / rate_of(bare))
    return ratios


def rate_through(suite: Path, results: Path) -> float:
    """Return the requests/s of the last trial: what noise disturbed before it was repeated."""
    took(lambda: quietly(run(suite, results)))
    reading = json.loads(max(results.glob("*/trials/*/trial.json")).read_text())["reading"]
    return float(reading["responses"]) / float(reading["seconds"])


def rate_of(bare: Sequence[str]) -> float:
    """Return the requests/s that bare wrk prints."""
    found = re.search(r"Requests/sec:\s+([\d.]+)", quietly(bare))
    if found is None:
        sys.exit("wrk printed no rate")
    return float(found[1])


def run(suite: Path, results: Path) -> list[str]:
    """Return the words that measure a suite."""
    return [sys.executable, "-m", "benchforge", "run", str(suite), "-o", str(results)]


class OthersMeasure(Exception):
    """Another benchforge measures, and ours started nothing."""


def took(call: Callable[[], object]) -> float:
    """Return how many seconds a call takes, once no other benchforge measures."""
    while True:
        begun = time.monotonic()
        try:
            call()
        except OthersMeasure:
            time.sleep(1)
        else:
            return time.monotonic() - begun


def quietly(words: Sequence[str], more: Mapping[str, str] | None = None) -> str:
    """Run a program and return what it printed; end here when it fails."""
    environment = {**os.environ, **(more or {})}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if "another benchforge is measuring" in done.stderr:
        raise OthersMeasure
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
