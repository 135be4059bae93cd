"""A host that answers from a recording, except for one answer, which is somebody else's words.

It stands for ssh: `fake_host.py FOLDER ... LABEL SCRIPT`. The folder has LABEL.json, by call the
answers of a real host, and maybe mutation.json: host, call, and what is sent instead.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

BOOT = "boot"


def name_of(call: dict[str, Any]) -> str:
    """Return what a call is kept under: a file and a service have answers of their own."""
    words = (call["with"][word] for word in ("name", "offset") if word in call["with"])
    return " ".join(map(str, (call["do"], *words)))


class FakeHost:
    """Answers of one host."""

    def __init__(self, folder: Path, label: str) -> None:
        self._answers = json.loads((folder / f"{label}.json").read_text())
        file = folder / "mutation.json"
        mutation = json.loads(file.read_text()) if file.exists() else {"host": None}
        self._mutation = mutation if mutation["host"] == label else None

    def answered(self, name: str, number: int) -> bytes:
        """Return the answer to a call, as it is sent."""
        if self._mutation and self._mutation["call"] == name:
            sent: str = self._mutation["sent"]
            self._mutation = None
            return sent.replace("@ID@", str(number)).encode("latin-1")
        answers = self._answers[name]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if name == "clock":
            answer = {**answer, "value": time.monotonic()}
        if name != BOOT:
            answer = {**answer, "id": number}
        return json.dumps(answer).encode() + b"\n"


def main() -> None:
    """Answer calls and beats, until nobody listens or asks."""
    host = FakeHost(Path(sys.argv[1]), sys.argv[-2])
    calls = sys.stdin.buffer
    calls.readline()
    os.write(1, host.answered(BOOT, 0))
    while line := calls.readline():
        answer = b"\n"
        if line != b"\n":
            call = json.loads(line)
            answer = host.answered(name_of(call), call["id"])
        while answer:
            answer = answer[os.write(1, answer) :]


if __name__ == "__main__":
    main()
