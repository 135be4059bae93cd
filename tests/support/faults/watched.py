"""A benchforge that runs and is watched from outside, and what it leaves."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import warm
from faults import standing
from front_door import PROGRAMS, Bench, Told, bench_words

from benchforge.run.sandbox import procfs

NOTHING = "nothing"
ENDS_S = 200.0
# A user namespace in which no others may be made: what a cautious machine refuses.
REFUSED = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    'for name in net pid user; do echo 0 > /proc/sys/user/max_${name}_namespaces; done; exec "$@"',
    "-",
)
# For the kernel without any right; what is root's outside is this user's.
ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000")

Found = TypeVar("Found")


@dataclass
class Watched:
    """A benchforge that runs, or ran, with folders of its own."""

    folder: Path
    process: "subprocess.Popen[str] | warm.Called"
    pid: int = 0
    told: Told | None = None
    left: list[str] = field(default_factory=list)

    def ended(self, within_s: float = ENDS_S) -> Told:
        """What it printed, once it has ended and what it left has been looked for."""
        if self.told is None:
            code = self.process.wait(within_s)
            out, err = ((self.folder / name).read_text() for name in ("out", "err"))
            self.told = Told(code, out, err)
            self.left = json.loads((self.folder / "left").read_text())["left"]
            # What a server printed is shown behind a bar.
            assert "\nTraceback" not in f"\n{self.told.all}", self.told.all
        return self.told

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    @property
    def result(self) -> Path:
        (actual,) = (self.folder / "results").iterdir()
        return actual

    @property
    def scratch(self) -> list[Path]:
        return sorted((self.folder / "t").glob("bf-*"))

    @property
    def leaves(self) -> str:
        """For the page: what still runs or lies about, once it has ended."""
        self.ended()
        return ", ".join([*self.left, *("a scratch folder" for _ in self.scratch)]) or NOTHING


@contextlib.contextmanager
def watched(folder: Path, *words: str | Path, first: tuple[str, ...] = ()) -> Iterator[Watched]:
    """Start benchforge, and give it once it measures; whatever the test does, it is ended."""
    results = len(headers(folder))
    with started(folder, *words, first=first) as item:
        while item.process.poll() is None and len(headers(folder)) == results:
            time.sleep(0.01)
        yield item


@contextlib.contextmanager
def started(folder: Path, *words: str | Path, first: tuple[str, ...] = ()) -> Iterator[Watched]:
    """Start benchforge; whatever the test does, it is ended."""
    (folder / "t").mkdir(exist_ok=True)
    (folder / "left.pid").unlink(missing_ok=True)
    (folder / "left").unlink(missing_ok=True)
    item = Watched(folder, _process(folder, words, first))
    until((folder / "left.pid").exists)
    item.pid = int((folder / "left.pid").read_text())
    try:
        yield item
    finally:
        if item.process.poll() is None:
            item.signal(signal.SIGKILL)
            item.process.wait(ENDS_S)


def _process(
    folder: Path, words: tuple[str | Path, ...], first: tuple[str, ...]
) -> "subprocess.Popen[str] | warm.Called":
    """Start what watches, and benchforge below it: as a fork, where no other program is between."""
    watches = PROGRAMS / "harness/watched.py"
    text = str(folder / "left")
    environment = {**os.environ, "TMPDIR": str(folder / "t")}
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        if first or not warm.may(environment):
            line = [sys.executable, str(watches), text, *first, *bench_words(*words)]
            null, env = subprocess.DEVNULL, environment
            return subprocess.Popen(
                line, cwd=folder, stdin=null, stdout=out, stderr=err, text=True, env=env
            )
    outputs = folder / "out", folder / "err"
    return warm.Called([text, *map(str, words)], folder, environment, *outputs, watches)


def headers(folder: Path) -> list[Path]:
    """The results in which a run has begun."""
    return list(folder.glob("results/[!.]*/result.json"))


def keepers(watched: Watched) -> tuple[int, int]:
    """The pids of a trial's keeper: the outer process, and the inner one."""
    forks = next(pid for pid in children(watched.pid) if b"import keeper" in line(pid))
    # It forks one for each trial, and waits for that of the last when the next is asked for.
    return next((outer, below[0]) for outer in children(forks) if (below := children(outer)))


def children(label: int) -> list[int]:
    return procfs.children(label, label)


def line(pid: int) -> bytes:
    return standing.line(pid).encode()


def until(look: Callable[[], Found | None], within_s: float = 200.0) -> Found:
    """What a look gives, as soon as it gives something."""
    deadline = time.monotonic() + within_s
    while not (actual := look()):
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)
    return actual


def valid(bench: Bench, watched: Watched) -> None:
    """The result is valid, and nothing else is left."""
    assert watched.leaves == NOTHING
    bench("validate", watched.result, code=0)
