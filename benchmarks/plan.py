"""How long planning takes, and how much memory, for matrices of 1 000, 10 000 and 100 000 cases.

    .venv/bin/python benchmarks/plan.py

Each line is a process of its own, which loads a suite, expands it, asks for its length in time,
walks the order of five blocks, and names each case of it once. Beside it, in the same session,
what is the least that somebody would do without benchforge: a list of all combinations
(itertools.product), shuffled once for each block. Peak memory is of the whole process, minus what
it had before it began.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

BLOCKS = 5
AXES = {
    "loaders.closed.connections": 10,
    "servers.*.threads": 10,
    "path.size": 5,
    "servers.*.workers": None,  # as many as the matrix needs
}
SERVERS = 2
SUITE = """
benchforge = 1
[servers.flask]
use = "gunicorn"
app = "hello_flask"
[servers.wsgi]
use = "gunicorn"
app = "hello_wsgi"
[loaders.closed]
use = "wrk"
duration = "5s"
[scenarios.hello]
request = {{ path = "/hello/{{size}}" }}
servers = ["flask", "wsgi"]
loaders = ["closed"]
vary = {{ {vary} }}
[repeat]
blocks = {blocks}
seed = 1
"""


def main() -> None:
    """Print a line for each size and each way."""
    print(f"{'cases':>7}  {'':10}  {'seconds':>8}  {'us/case':>8}  {'peak MB':>8}  {'B/case':>7}")
    for cases in (1_000, 10_000, 100_000):
        for way in ("benchforge", "product"):
            words = [sys.executable, __file__, way, str(cases)]
            told = json.loads(subprocess.check_output(words, timeout=600))
            seconds, peak = told["seconds"], told["peak"]
            print(
                f"{cases:7}  {way:10}  {seconds:8.2f}  {seconds / cases * 1e6:8.1f}"
                f"  {peak / 1e6:8.1f}  {peak / cases:7.0f}"
            )


def axes(cases: int) -> dict[str, list[int]]:
    """Return what varies, so that there are so many cases."""
    rest = cases // SERVERS
    for size in AXES.values():
        rest //= size or 1
    return {path: list(range(1, (size or rest) + 1)) for path, size in AXES.items()}


def by_benchforge(cases: int) -> Callable[[], int]:
    """Return what plans with benchforge; the imports are not measured."""
    from benchforge.graph import plan  # noqa: PLC0415 - the peer shall not carry it
    from benchforge.registry import Registry  # noqa: PLC0415
    from benchforge.suite.cases.expand import expand  # noqa: PLC0415
    from benchforge.suite.load import load  # noqa: PLC0415

    registry = Registry()
    for kind, name in (("server", "gunicorn"), ("loader", "wrk")):
        registry.part(kind, name)  # type: ignore[arg-type]

    def planned() -> int:
        vary = ", ".join(f'"{path}" = {values}' for path, values in axes(cases).items())
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "plan.toml"
            file.write_text(SUITE.format(vary=vary, blocks=BLOCKS))
            suite = load(file, registry)
            graph = plan(expand(suite), suite.repeat, 1)
            assert graph.declared_s > 0  # noqa: S101 - it is computed of every case
            steps = sum(1 for _ in graph.steps())
            return steps if all(case.name.digest for case in graph.cases) else 0

    return planned


def by_product(cases: int) -> Callable[[], int]:
    """Return what lists and shuffles all combinations."""

    def planned() -> int:
        every = list(product(range(SERVERS), *axes(cases).values()))
        rng = random.Random(1)  # noqa: S311 - an order is no secret
        return sum(len(rng.sample(every, len(every))) for _ in range(BLOCKS))

    return planned


def measured(way: str, cases: int) -> None:
    """Print what one way took, as JSON."""
    planned = (by_benchforge if way == "benchforge" else by_product)(cases)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    steps = planned()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if steps != cases * BLOCKS:
        sys.exit(f"{way} planned {steps} steps, not {cases * BLOCKS}")
    print(json.dumps({"seconds": seconds, "peak": peak * 1024}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measured(sys.argv[1], int(sys.argv[2]))
    else:
        main()
