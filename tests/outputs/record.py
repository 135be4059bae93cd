"""Records what load tools print: real ones, on loopback, against the server that misbehaves.

    python tests/outputs/record.py TOOL FOLDER_OF_PROGRAMS

Each folder below wrk/, ab/ and so on holds what one run left: stdout.txt, stderr.txt (of a long one
the first lines), the files that the tool wrote, and recording.json with the options, the path, the
exit code, the tool's version, and how many connections the server accepted and how many requests it
saw (None when it did not live to tell). What stands in weighttp/ and wrk2/ was printed by those
tools elsewhere: their command is all that is known of those runs. k6/flows and wrk2/mix are of
trials of tests/run/mix, with the labels of the kinds.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from front_door import PROGRAMS, captured
from serving.apps import accepts, free_port

from benchforge.parts.registry import Registry
from benchforge.plugin import Command, Loader, Request, Site, Target

HERE = Path(__file__).parent
MOMENT_S = 0.7
LONG = 50_000


@dataclass(frozen=True)
class Case:
    """One run: a path is a fault, named like the run; `ends` names who is killed in the middle."""

    name: str
    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    mode: str = ""
    "Of the server."
    ends: str = ""


USUAL = [
    *map(Case, ("broken", "mixed", "half", "halves", "empty", "reset", "closes")),
    Case("refused", "/ok", ends="before"),
    Case("server-killed", "/ok", ends="server"),
]
WRK = [
    *USUAL,
    Case("healthy", "/ok", {"connections": 16, "threads": 2}),
    Case("stalls", "/ok", {"connections": 16, "duration": 3}, mode="stalls"),
    Case("slow", "/slow", {"connections": 5}),
    Case("fewer-than-connections", "/slow", {"connections": 64, "duration": 1, "timeout": 1}),
    Case("late", "/late", {"connections": 16, "duration": 4, "timeout": 1}),
    Case("hang", "/hang", {"timeout": 1}),
    Case("tool-killed", "/ok", ends="tool"),
]
AB = [
    *USUAL,
    Case("healthy", "/ok"),
    Case("without-keep-alive", "/ok", {"keep_alive": False}),
    Case("requests", "/ok", {"requests": 2000}),
    Case("requests-half", "/half", {"requests": 2000}),
    Case("few", "/ok", {"requests": 20}),
    Case("one", "/slow", {"requests": 1, "connections": 1}),
    Case("stalls", "/ok", mode="stalls"),
    *map(Case, ("slow", "unavailable", "variable")),
    Case("variable-allowed", "/variable", {"variable_length": True}),
    Case("hang", "/hang", {"timeout": 1}),
    Case("interrupted", "/ok", ends="tool"),
]
OTHERS = [
    *USUAL,
    Case("healthy", "/ok"),
    *map(Case, ("missing", "slow", "hang")),
    Case("tool-killed", "/ok", ends="tool"),
]
PACED: Mapping[str, object] = {"rate": 200}
LATE: Mapping[str, object] = {"connections": 2, "rate": 100}
CASES: dict[str, list[Case]] = {
    "wrk": WRK,
    "ab": AB,
    # Its log has a line for each request.
    "h2load": [
        *(replace(case, mode="slowly") for case in OTHERS),
        Case("streams", "/ok", {"streams": 3}, mode="slowly"),
        Case("wordless", "/wordless", mode="slowly"),
    ],
    "hey": [*OTHERS, Case("paced", "/ok", PACED), Case("late", "/slow", LATE)],
    "siege": [*OTHERS, Case("without-keep-alive", "/ok", {"keep_alive": False})],
    "oha": [*OTHERS, Case("paced", "/ok", PACED), Case("late", "/slow", {**LATE, "correct": True})],
    "k6": [
        *OTHERS,
        Case("paced", "/ok", PACED),
        Case("dropped", "/slow", {"users": 2, "rate": 100}),
    ],
    "hyperfine": [Case("healthy", "/ok"), Case("broken", "/broken")],
    "locust": [*OTHERS, Case("requests", "/mixed", {"user": "http"})],
}
ASKS_TWICE = "import sys, urllib.request as u; [u.urlopen(sys.argv[1]).read() for _ in range(2)]"
FEW: dict[str, Any] = {"connections": 10, "duration": 1}
SHORT: dict[str, dict[str, Any]] = {
    "wrk": {"connections": 10, "duration": 2},
    "ab": {"connections": 10},
    "k6": {"users": 5, "duration": 1},
    "locust": {"users": 5, "duration": 2},
    "hyperfine": {"command": ["{python}", "-c", ASKS_TWICE, "{url}"], "requests": 2, "runs": 3},
}


def main(tool: str, programs: Path) -> None:
    """Record all cases of one tool."""
    part = Registry().part("loader", tool)
    for case in CASES[tool]:
        end: dict[str, Any] = {}
        if tool == "ab" and "requests" not in case.options:
            end = {"duration": 1}
        if case.name == "hang" and "timeout" in part.model_fields and tool not in {"wrk", "ab"}:
            end = {"timeout": 1}
        loader = part.model_validate({**SHORT.get(tool, FEW), **end, **case.options})
        assert isinstance(loader, Loader)
        record(loader, case, programs)


def record(part: Loader, case: Case, programs: Path) -> None:
    """Run one case and write down what it left."""
    folder = HERE / part.name / case.name
    folder.mkdir(parents=True, exist_ok=True)
    port, path = free_port(), case.path or f"/{case.name}"
    url, program = f"http://127.0.0.1:{port}{path}", {part.name: programs / part.name}
    target = Target(url, Request(path=path), folder, program, Path(sys.executable))
    for name, text in part.files(target).items():
        (folder / name).write_text(text)
    with _server(port, case.mode) as server:
        if case.ends == "before":
            server.kill()
            server.wait()
        code = _run(part, target, case.ends, server)
    version = _version(part, target)
    _tidy(folder)
    counted = server.stdout.read().split() if server.stdout else []
    accepted, request = map(int, counted) if counted else (None, None)
    actual = {
        "options": part.model_dump(mode="json", exclude_none=True, by_alias=True),
        "path": path,
        "exit_code": code,
        "version": version,
        "accepted": None if accepted is None else accepted - 1,
        "asked": request,
    }
    (folder / "recording.json").write_text(json.dumps(actual, indent=2) + "\n")
    sys.stdout.write(f"{part.name} {case.name}: {code}, accepted {accepted}, asked {request}\n")


def _run(part: Loader, target: Target, ends: str, server: subprocess.Popen[str]) -> int:
    command = part.commands(target)[0]
    folder = target.folder
    with (folder / "stdout.txt").open("w") as out, (folder / "stderr.txt").open("w") as err:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **command.environment}
        tool = subprocess.Popen(command.argv, stdout=out, stderr=err, cwd=folder, env=environment)
        if ends in {"server", "tool"}:
            time.sleep(MOMENT_S)
        if ends == "server":
            server.kill()
        if ends == "tool":
            tool.send_signal(signal.SIGINT if part.name == "ab" else signal.SIGTERM)
        return tool.wait()


@contextmanager
def _server(port: int, mode: str) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, str(PROGRAMS / "faulty_servers/by_path.py"), str(port), mode]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    while not accepts(port):  # a look whether it listens is taken off the count above
        time.sleep(0.02)
    try:
        yield server
    finally:
        server.terminate()
        server.wait()


def _tidy(folder: Path) -> None:
    """Leave nothing of this machine, and of long complaints the first lines."""
    shutil.rmtree(folder / ".siege", ignore_errors=True)
    for path in folder.iterdir():
        text = path.read_text().replace(str(HERE.parents[1]), "")
        text = text.replace(f" {socket.gethostname()}/", " host/")
        long = path.name == "stderr.txt" and len(text) > LONG
        path.write_text("".join(text.splitlines(keepends=True)[:20]) if long else text)


def _version(part: Loader, target: Target) -> str:
    site = Site(
        *("version", target.folder, target.folder, "127.0.0.1", {}, target.python),
        *(target.programs, {}, target.folder, False),
    )
    asking = part.version(site) or Command(target.python, "-m", "locust", "--version")
    if part.name == "hey":
        return "unknown: it does not tell"
    finished = captured(asking.argv, env={"PATH": os.environ["PATH"], **asking.environment})
    return (finished.stdout + finished.stderr).strip().splitlines()[0].partition(" from ")[0]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
