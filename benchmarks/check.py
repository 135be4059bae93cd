"""How long a suite of 2 000 lines takes to be checked, beside readers of TOML alone.

Run `python benchmarks/check.py`. Each is measured seven times in turn, and the fastest is shown:
the suite is the same, so that whatever is slower was disturbed.
"""

import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import tomli

from benchforge.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.toml.positions import positions

ROUNDS = 7
SERVERS = 396


def suite() -> str:
    """Return a suite of 2 000 lines."""
    servers = "".join(
        f'[servers.s{number}]\nuse = "gunicorn"\napp = "hello_flask"\nworkers = {number + 1}\n\n'
        for number in range(SERVERS)
    )
    labels = ", ".join(f'"s{number}"' for number in range(SERVERS))
    return (
        f'benchforge = 1\n\n{servers}[loaders.closed]\nuse = "wrk"\nconnections = 32\n\n'
        f'[scenarios.hello]\nrequest = {{ path = "/" }}\nservers = [{labels}]\n'
        'loaders = ["closed"]\nexpect = { status = 200 }\n\n'
        '[repeat]\nblocks = 3\nwarmup = "1s"\nseed = 7\n\n[profiles.quick]\nrepeat.blocks = 1\n'
    )


def fastest(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return for each piece of work its fastest round, in seconds."""
    taken: dict[str, float] = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            taken[name] = min(taken[name], time.perf_counter() - began)
    return taken


def main() -> None:
    """Measure and print."""
    text = suite()
    registry = Registry()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.toml"
        path.write_text(text)
        taken = fastest(
            {
                "tomllib.loads": lambda: tomllib.loads(text),
                "tomli.loads (compiled where there is a wheel)": lambda: tomli.loads(text),
                "where everything stands": lambda: positions(text),
                "all of it: read, checked, resolved": lambda: load(path, registry),
            }
        )
    print(f"a suite of {len(text.splitlines())} lines, the fastest of {ROUNDS} rounds")
    for name, seconds in taken.items():
        ratio = seconds / taken["tomllib.loads"]
        print(f"{seconds * 1000:8.1f} ms  {ratio:5.1f} times tomllib  {name}")


if __name__ == "__main__":
    main()
