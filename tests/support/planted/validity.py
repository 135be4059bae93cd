"""What the tests of validity share: a suite with a fault, what was found, and the page of all rows.

`python -m planted.validity SEEN` prints docs/validity.md from what the tests wrote into SEEN.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, Told
from measured.on_disk import trials_of

PAGE = Path(__file__).parents[3] / "docs/validity.md"
ONCE = "smoke = true"  # whatever neighbours do, each trial is measured once
RATE = "Requests/sec"  # the word of a line that wrk prints
HEAD = """# Faults that the tests plant, and what the checks find

The tests in `tests/validity/` plant each fault in a suite with real processes. The second column
is the output of the load tool, the last one the finding of benchforge. A test fails if the check
gives a different answer, or if it gives the same answer without the fault. `make validity` writes
this page from one run of the tests.

| fault | what the tool printed | check | value | what benchforge says |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Seen:
    """A run, and all that it kept."""

    told: Told
    result: Path

    @property
    def summary(self) -> dict[str, Any]:
        return dict(json.loads((self.result / "summary.json").read_text()))

    def trials(self, server: str) -> list[dict[str, Any]]:
        """The trials of a server, in the order of time; all attempts."""
        return [item for item in trials_of(self.result) if item["case"]["server"] == server]

    def checks(self, id_: str, server: str = "") -> Iterator[Mapping[str, Any]]:
        """All answers of a check: of a server's trials, else of comparisons and the whole."""
        summary = self.summary
        items = self.trials(server) if server else [*summary["comparisons"], summary]
        yield from (check for item in items for check in item["checks"] if check["id"] == id_)

    def printed(self, server: str, word: str) -> str:
        """The line with that word which the load tool printed in the server's first trial."""
        number = self.trials(server)[0]["number"]
        for file in sorted((self.result / f"trials/{number:04d}").glob("[lc]*-*.out")):
            for line in file.read_text(errors="replace").splitlines():
                if word in line:
                    return " ".join(line.split())
        raise AssertionError(f"the tool did not print {word!r}")


def measured(bench: Bench, folder: Path, suite: str, *words: str) -> Seen:
    """Run a suite; whatever its exit code is, there is a result."""
    names = set(folder.glob("results/*"))
    (folder / "suite.toml").write_text(suite)
    call = bench("run", "suite.toml", *words, within_s=300)
    (result,) = set(folder.glob("results/*")) - names
    return Seen(call, result)


def caught(
    fault: str,
    observed: Seen,
    id_: str,
    *,
    server: str = "",
    status: str = "fail",
    word: str = "",
    of_server: str = "",
    printed: str = "",
) -> Mapping[str, Any]:
    """The check that caught a fault; its row is on the page, or written where VALIDITY says.

    The row has what was printed: the line with `word` of the load tool of this, or another server.
    """
    actual = [check for check in observed.checks(id_, server) if check["status"] == status]
    everything = [(check["status"], check["message"]) for check in observed.checks(id_, server)]
    assert actual, f"{id_} did not say {status}: {everything}\n{observed.told.all}"
    printed = observed.printed(of_server or server, word) if word else printed
    noted(fault, id_, actual[0], printed)
    return actual[0]


@pytest.fixture
def neighbour(tmp_path: Path) -> Iterator[Path]:
    """A pipe; a process outside of all trials computes while somebody writes to it."""
    os.mkfifo(pipe := tmp_path / "pipe")
    words = [sys.executable, str(PROGRAMS / "harness/neighbour.py"), str(pipe)]
    with subprocess.Popen(words) as process:
        yield pipe
        process.kill()


def measured_until(
    bench: Bench, folder: Path, suite: str, until: Callable[[Seen], object], tries: int = 4
) -> Seen:
    """Run a suite until it shows what it should, so many times at most: a neighbour may hide it."""
    for _ in range(tries):
        if until(observed := measured(bench, folder, suite)):
            break
    return observed


def quiet(observed: Seen, id_: str, server: str = "") -> None:
    """A check that was asked, and found nothing."""
    items = list(observed.checks(id_, server))
    assert items, f"{id_} was not asked"
    bad = [item["message"] for item in items if item["status"] != "pass"]
    assert not bad, bad


def apart(observed: Seen, fault: str, id_: str, label: str, says: str = "", **how: str) -> None:
    """A check says so of the server with a fault, and nothing of the healthy one beside it."""
    check = caught(fault, observed, id_, server=label, **how)
    assert says in check["message"], check
    quiet(observed, id_, "healthy")


def noted(fault: str, id_: str, check: Mapping[str, Any], printed: str) -> None:
    """Hold the fault and the check against the page, or write a row down."""
    begins = f"| {fault} |"
    if path := os.environ.get("VALIDITY"):
        value = "" if check["value"] is None else f"{check['value']:.3g}"
        name = f"{id_} {check['name']}: {check['status']}"
        tool = f"`{plain(printed)}`" if printed else "nothing"
        with Path(path).open("a") as file:
            file.write(f"{begins} {tool} | {name} | {value} | {plain(check['message'])} |\n")
        return
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith(begins)]
    # A fault that could not be planted when the page was written has no row.
    assert not rows or any(f" {id_} {check['name']}: {check['status']} |" in row for row in rows), (
        f"the page has no such row: {fault}: {id_} {check['status']}; `make validity` writes it"
    )


def plain(text: str) -> str:
    """A text that stays in its cell, without the paths of one machine."""
    text = re.sub(r"/\S*/(?=[\w.-]+)", "", text.replace("|", "/"))
    return " ".join(text.split())


if __name__ == "__main__":
    from planted import honest  # this page is of all four
    from planted.lies import table  # it imports this module

    from docs.generate import ways

    seen_lines = Path(sys.argv[1]).read_text().splitlines(keepends=True)
    sys.stdout.write(HEAD + "".join(sorted(line for line in seen_lines if line.startswith("|"))))
    sys.stdout.write(honest.table())
    sys.stdout.write(table(line for line in seen_lines if line.startswith("{")))
    sys.stdout.write(f"\n{ways.section()}")
