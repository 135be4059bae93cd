"""While something is measured, benchforge prints nothing and collects no garbage: each way.

Of each load the second that is known to be measured is looked at: wrk is a program of ours that
notes when it starts and then becomes wrk, which loads for its duration at least. So the window is
inside of the load on any machine, and needs no margin: what is printed as a load begins is printed
before wrk starts. The rest of wrk's life after its duration is not looked at.
"""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, WAITS_S, Told, answering, bench_words, calls, needed, program_words
from hosts_lab import lab
from present import present
from suite_texts.files import suite_text
from suite_texts.with_wrk import trials

FAR = "benchforge.remote.agent"
STARTS = """#!/bin/sh
# A shell reads little before it is wrk: in turns what wrk reads is counted.
case " $*" in *" -d"*) read -r up idle </proc/uptime; echo "$up" >{pipe};; esac
exec {words} "$@"
"""
TICK_S = 0.01  # of /proc/uptime
APP = """
import sitecustomize
def app(environ, start):
    start("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


@dataclass(frozen=True)
class Event:
    """A print or a collection of a program, in ns of the monotonic clock."""

    program: str
    moment: int
    kind: str
    number: int


@dataclass(frozen=True)
class Listening:
    """A folder to measure in, the file of events, and the pipe with the starts of load tools."""

    folder: Path
    notes: Path
    starts: int

    def run(self, *words: str, code: int | None = None, **environment: str) -> Told:
        """Call benchforge; all that it prints is an event."""
        bench = calls(bench_words(), self.folder, {**os.environ, **environment})
        ended = bench(*words, code=code)
        sizes = [event.number for event in self.events("benchforge") if event.kind == "print"]
        assert sum(sizes) == len(ended.all.encode())
        return ended

    def events(self, program: str) -> list[Event]:
        """Return the events of one program."""
        lines = [line.split() for line in self.notes.read_text().splitlines()]
        events = [Event(name, int(ns), kind, int(size)) for name, ns, kind, size in lines]
        return [event for event in events if event.program == program]

    def windows(self, length_s: float = 1.0) -> list[tuple[int, int]]:
        """Return the start of each load tool, and the moment `length_s` later."""
        starts = sorted(map(float, os.read(self.starts, 1 << 16).split()))
        return [(int((s + TICK_S) * 1e9), int((s + length_s) * 1e9)) for s in starts]

    def suite(self, *servers: str, **parts: str) -> str:
        """Write the suite of these servers."""
        path = self.folder / "suite.toml"
        holes = {"top": "", "turns": "", "server": answering(), **parts}
        path.write_text(suite_text("run/silence", servers=json.dumps(servers), **holes))
        return str(path)


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    """Have each benchforge note its events, and each wrk its start."""
    needed("wrk")
    folder, site, programs = (tmp_path / name for name in ("bench", "site", "bin"))
    for path in (folder, site, programs):
        path.mkdir()
    (notes := tmp_path / "notes").touch()
    os.mkfifo(pipe := tmp_path / "starts")  # a trial may write to a pipe, and to no file of ours
    words = shlex.join(map(str, program_words("wrk")))
    (programs / "wrk").write_text(STARTS.format(pipe=shlex.quote(str(pipe)), words=words))
    (programs / "wrk").chmod(0o755)
    # A distribution that an app imports is brought to hosts.
    (site / "sitecustomize.py").write_text((PROGRAMS / "harness/silence.py").read_text())
    (metadata := site / "silence-1.0.dist-info").mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: silence\nVersion: 1.0\n")
    (metadata / "RECORD").write_text("sitecustomize.py,,\n")
    monkeypatch.setenv("SILENCE", str(notes))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    starts = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    yield Listening(folder, notes, starts)
    os.close(starts)


def silent(events: Sequence[Event], windows: Sequence[tuple[int, int]]) -> None:
    """Nothing is in a window; what is noted as a program starts shows that all would be."""
    inside = [event for event in events for begin, end in windows if begin <= event.moment <= end]
    assert inside == []
    assert {event.kind for event in events if event.moment < windows[0][0]} == {"collect", "print"}


def test_alone(listening: Listening) -> None:
    listening.run("run", listening.suite("two"), code=0)
    (window,) = listening.windows()
    silent(listening.events("benchforge"), [window])


def test_in_turns(listening: Listening) -> None:
    turns = 'interleave = "100ms"\neach = "500ms"'
    listening.run("run", listening.suite("two", "three", turns=turns), code=0)
    # The slices come after the start of both load tools, and those of a lost launch before it.
    lasted_s = max(trial["turns"]["slices"][-1]["end_s"] for trial in trials(listening.folder)[-2:])
    assert lasted_s > 0.9
    silent(listening.events("benchforge"), listening.windows(lasted_s)[-1:])


def test_on_hosts(listening: Listening, tmp_path: Path) -> None:
    (listening.folder / "code").mkdir()
    (listening.folder / "code/mine.py").write_text(APP)
    server = 'use = "waitress"\napp = "mine:app"\ndirectory = "code"'
    with lab(tmp_path, ("load", "app"), {"SILENCE": str(listening.notes)}) as hosts:
        (tmp_path / "load/bin").symlink_to(tmp_path / "bin")
        top = '[placement.hosts]\nloader = "load"\nserver = "app"\n'
        top += "".join(map(hosts.table, ("load", "app")))
        path = listening.suite("two", server=server, top=top, turns='warmup = "0.2s"')
        listening.run("run", path, code=0, **hosts.environment)
    warm_up, *load = listening.windows()
    silent(listening.events("benchforge"), load)
    silent(listening.events(FAR), load)
    assert warm_up < load[0]
    (trial,) = trials(listening.folder)
    assert {"ask", "warm-up", "load", "finish"} <= trial["phases"].keys()
    assert sum(trial["phases"].values()) <= trial["seconds"]


def test_of_serve(listening: Listening) -> None:
    """Another load tool measures what it serves."""
    words = bench_words("serve", listening.suite("two"), "two")
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=listening.folder, **pipes) as process:
        out, err = present(process.stdout), present(process.stderr)
        try:
            while "running until Ctrl-C" not in (line := err.readline()):
                assert line, out.read()
            url = out.readline().split()[-1]
            subprocess.run(["wrk", "-t1", "-c8", "-d1s", url], check=True, capture_output=True)
        finally:
            process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=WAITS_S)[1]
    assert process.returncode == 0, errors
    silent(listening.events("benchforge"), listening.windows())


def test_of_ceilings(listening: Listening) -> None:
    ended = listening.run("calibrate", "--rounds", "2", "--seconds", "1")
    assert ended.code in {0, 4}, ended.all  # 4: the machine is loud
    first, second = listening.windows()
    silent(listening.events("benchforge"), [first, second])
