"""Records what wrk and ab print: real tools, on loopback, against the server that misbehaves.

    python tests/outputs/record.py FOLDER_OF_PROGRAMS

Each folder below wrk/ and ab/ holds what one run left: stdout.txt, stderr.txt, the files that the
tool wrote, and recording.json with the options, the path, the exit code, the tool's version, and
how many connections the server accepted (None when it did not live to tell).
"""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchforge_loaders.ab import Ab
from benchforge_loaders.wrk import Wrk

from benchforge.plugin import Loader, Request, Target

HERE = Path(__file__).parent
MOMENT_S = 0.7


@dataclass(frozen=True)
class Case:
    """One run: a path is a fault; `ends` names who is killed in the middle."""

    name: str
    path: str
    options: dict[str, object] = field(default_factory=dict)
    stalls: bool = False
    ends: str = ""


WRK = [
    Case("healthy", "/ok", {"connections": 16, "threads": 2}),
    Case("stalls", "/ok", {"connections": 16, "duration": 3}, stalls=True),
    Case("slow", "/slow", {"connections": 5}),
    Case("fewer-than-connections", "/slow", {"connections": 64, "duration": 1, "timeout": 1}),
    Case("late", "/late", {"connections": 16, "duration": 4, "timeout": 1}),
    Case("hang", "/hang", {"timeout": 1}),
    Case("broken", "/broken"),
    Case("mixed", "/mixed"),
    Case("half", "/half"),
    Case("halves", "/halves"),
    Case("empty", "/empty"),
    Case("reset", "/reset"),
    Case("closes", "/closes"),
    Case("refused", "/ok", ends="before"),
    Case("server-killed", "/ok", ends="server"),
    Case("tool-killed", "/ok", ends="tool"),
]
AB = [
    Case("healthy", "/ok"),
    Case("without-keep-alive", "/ok", {"keep_alive": False}),
    Case("requests", "/ok", {"requests": 2000}),
    Case("requests-half", "/half", {"requests": 2000}),
    Case("few", "/ok", {"requests": 20}),
    Case("one", "/slow", {"requests": 1, "connections": 1}),
    Case("stalls", "/ok", stalls=True),
    Case("slow", "/slow"),
    Case("broken", "/broken"),
    Case("mixed", "/mixed"),
    Case("unavailable", "/unavailable"),
    Case("variable", "/variable"),
    Case("variable-allowed", "/variable", {"variable_length": True}),
    Case("half", "/half"),
    Case("halves", "/halves"),
    Case("empty", "/empty"),
    Case("reset", "/reset"),
    Case("closes", "/closes"),
    Case("hang", "/hang", {"timeout": 1}),
    Case("refused", "/ok", ends="before"),
    Case("server-killed", "/ok", ends="server"),
    Case("interrupted", "/ok", ends="tool"),
]
SHORT: dict[str, dict[str, object]] = {
    "wrk": {"connections": 10, "duration": 2},
    "ab": {"connections": 10},
}


def main(programs: Path) -> None:
    """Record all cases."""
    for case in WRK:
        record(Wrk.model_validate(SHORT["wrk"] | case.options), case, programs)
    for case in AB:
        end = {} if "requests" in case.options else {"duration": 1}
        record(Ab.model_validate(SHORT["ab"] | end | case.options), case, programs)


def record(part: Loader, case: Case, programs: Path) -> None:
    """Run one case and write down what it left."""
    folder = HERE / part.name / case.name
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    target = Target(
        url=f"http://127.0.0.1:{port}{case.path}",
        request=Request(path=case.path),
        folder=folder,
        programs={part.name: programs / part.name},
        python=Path(sys.executable),
    )
    with _server(port, stalls=case.stalls) as server:
        if case.ends == "before":
            server.kill()
            server.wait()
        code = _run(part, target, case.ends, server)
    accepted = server.stdout.read().strip() if server.stdout else ""
    told = {
        "options": part.model_dump(mode="json", exclude_none=True),
        "path": case.path,
        "exit_code": code,
        "version": _version(programs / part.name),
        "accepted": int(accepted) - 1 if accepted else None,
    }
    (folder / "recording.json").write_text(json.dumps(told, indent=2) + "\n")
    sys.stdout.write(f"{part.name} {case.name}: {code}, accepted {accepted or 'unknown'}\n")


def _run(part: Loader, target: Target, ends: str, server: subprocess.Popen[str]) -> int:
    command = part.commands(target)[0]
    folder = target.folder
    with (folder / "stdout.txt").open("w") as out, (folder / "stderr.txt").open("w") as err:
        tool = subprocess.Popen(command.argv, stdout=out, stderr=err, env=dict(command.environment))
        if ends in {"server", "tool"}:
            time.sleep(MOMENT_S)
        if ends == "server":
            server.kill()
        if ends == "tool":
            tool.send_signal(signal.SIGINT if part.name == "ab" else signal.SIGTERM)
        return tool.wait()


@contextmanager
def _server(port: int, *, stalls: bool) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, str(HERE / "faults.py"), str(port), *(["stalls"] if stalls else [])]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    while True:
        try:
            # A look whether it listens; taken off the count above.
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            break
    try:
        yield server
    finally:
        server.terminate()
        server.wait()


def _version(program: Path) -> str:
    option = "-v" if program.name == "wrk" else "-V"
    said = subprocess.run([program, option], capture_output=True, text=True, check=False).stdout
    return said.splitlines()[0]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


if __name__ == "__main__":
    main(Path(sys.argv[1]))
