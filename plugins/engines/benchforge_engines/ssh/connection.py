"""One host over OpenSSH: the user's own client, whose end is the end of all that runs there."""

import contextlib
import json
import os
import platform
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchforge.errors import ProgramMissing
from benchforge.model.suite.hosts import HostTable
from benchforge.run.locate import locate
from benchforge_engines import wire
from benchforge_engines.archive import Archive

COMMAND = "BENCHFORGE_SSH_COMMAND"
"Environment variable with the ssh command and its first options, as git's GIT_SSH_COMMAND."
BOOTS_WITHIN_S = 60.0
ENDS_WITHIN_S = 10.0
_BOOT = Path(__file__).with_name("boot.py")
"Sent as text: to import it would be to run it."
_OPTIONS = (
    *("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "ForwardX11=no"),
    *("ClearAllForwardings=yes", "PermitLocalCommand=no", "ControlMaster=no", "ControlPath=none"),
    *("ConnectTimeout=10", "ServerAliveInterval=1", "ServerAliveCountMax=4", "EscapeChar=none"),
)


class Losses:
    """Hears of each lost host: one is enough to wake all who wait for any."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.lost: wire.HostLost | None = None

    def note(self, label: str, why: str) -> None:
        """Note that a host is lost; the first counts."""
        with self.changed:
            self.lost = self.lost or wire.HostLost(label, why)
            self.changed.notify_all()


class SshConnection:
    """Calls to one host. `send` returns a number at once; `result` waits for its answer."""

    def __init__(self, label: str, table: HostTable, losses: Losses) -> None:
        self.label = label
        self._table, self._losses = table, losses
        self._answers: dict[int, dict[str, Any]] = {}
        self._number = 0
        self._closing = self._leased = False
        self._heard_s = 0.0
        self._writing = threading.Lock()
        self._process = subprocess.Popen(
            _words(table),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C goes to benchforge, which decides
        )

    def bring(self, files: Archive) -> None:
        """Give the host what it does not have, and start the far end. Raises ProgramMissing."""
        timer = threading.Timer(BOOTS_WITHIN_S, self._process.kill)
        timer.start()
        try:
            wanted = {
                "digest": files.digest,
                "size": len(files.packed),
                "minor": list(sys.version_info[:2]),
                "machine": platform.machine(),
            }
            self._write(wire.line(wanted))
            answer = self._first_answer()
            if "have" not in answer:
                own = f"{sys.version_info[0]}.{sys.version_info[1]} for {platform.machine()}"
                raise ProgramMissing(
                    f"hosts.{self.label}: its Python is {answer.get('python')} for "
                    f"{answer.get('machine')}, and benchforge's own is {own}",
                    f'install the same minor version, or name it: python = "/path/python{own[:4]}"',
                )
            if not answer["have"]:
                self._write(files.packed)
            self._leased, self._heard_s = True, time.monotonic()
        finally:
            timer.cancel()
        threading.Thread(target=self._read, daemon=True).start()

    def _first_answer(self) -> dict[str, Any]:
        """Return the first line that is one of ours: a shell's profile may print others before."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict) and "python" in answer:
                    return answer
        message = f"hosts.{self.label}: {self._complaint()}"
        raise ProgramMissing(message, f"try: ssh {shlex.quote(self._table.ssh)} true")

    def send(self, do: str, **what: object) -> int:
        """Send a call; return the number of its answer. Raises HostLost."""
        self._number += 1
        self._write(wire.line({"id": self._number, "do": do, "with": what}))
        return self._number

    def result(self, number: int) -> Any:
        """Return the answer to a call.

        Raises what the host raised, and HostLost as soon as any host is lost, not only this one.
        """
        with self._losses.changed:
            while number not in self._answers:
                if self._losses.lost is not None:
                    raise self._losses.lost
                self._losses.changed.wait()
            answer = self._answers.pop(number)
        if "error" in answer:
            raise wire.raised(self.label, answer["error"])
        return answer.get("value")

    def call(self, do: str, **what: object) -> Any:
        """Send a call and return its answer."""
        return self.result(self.send(do, **what))

    def beat(self) -> None:
        """Say that we are there; not while the files cross, of which it would be a byte.

        Whatever the host sends shows that it is there, too.
        """
        if not self._leased:
            return
        if time.monotonic() - self._heard_s > wire.SILENT_S:
            self._losses.note(self.label, f"it did not answer for {wire.SILENT_S:g} s")
            self._process.kill()
        with contextlib.suppress(wire.HostLost):
            self._write(b"\n")

    def close(self) -> None:
        """End the host's part; once is enough, twice does no harm."""
        self._closing = True
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        out = self._process.stdout
        assert out is not None  # noqa: S101 - it is a pipe
        why = ""
        while line := out.readline(wire.LARGEST_LINE):
            self._heard_s = time.monotonic()
            if line == b"\n":
                continue
            try:
                answer = json.loads(line)
                number = answer.get("id")
            except (ValueError, AttributeError):
                why = "it sent what is no answer"
                break
            if "lost" in answer:
                why = str(answer["lost"])
                break
            with self._losses.changed:
                if isinstance(number, int):
                    self._answers[number] = answer
                self._losses.changed.notify_all()
        if not self._closing:
            self._losses.note(self.label, why or self._complaint())

    def _complaint(self) -> str:
        """Return the last line that ssh or the host printed."""
        deadline = time.monotonic() + ENDS_WITHIN_S
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        if self._process.poll() is None:
            return "it ended its output"
        assert self._process.stderr is not None  # noqa: S101 - it is a pipe
        lines = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"ssh ended with exit code {self._process.returncode}"

    def _write(self, content: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            with self._writing:
                self._process.stdin.write(content)
                self._process.stdin.flush()
        except (OSError, ValueError) as error:
            if self._losses.lost is not None:
                raise self._losses.lost from error
            raise wire.HostLost(self.label, self._complaint()) from error


def _words(table: HostTable) -> list[str]:
    ssh = shlex.split(os.environ.get(COMMAND, "")) or ["ssh"]
    if locate(ssh[0]) is None:
        raise ProgramMissing(f"missing program: {ssh[0]}", "apt-get install openssh-client")
    options = [word for option in _OPTIONS for word in ("-o", option)]
    return [*ssh, "-T", *options, "--", table.ssh, _script(table)]


def _script(table: HostTable) -> str:
    """Return what the account's shell runs: the first Python there, with the boot program."""
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    names = [table.python] if table.python else [f"python{minor}", "python3"]
    program = shlex.quote(_BOOT.read_text(encoding="utf-8"))
    tries = " ".join(map(shlex.quote, names))
    missing = shlex.quote(f"no Python: {' and '.join(names)} are not on its PATH")
    script = (
        f'for name in {tries}; do p=$(command -v "$name") && exec "$p" -I -c {program}; done; '
        f"echo {missing} >&2; exit 127"
    )
    return f"exec sh -c {shlex.quote(script)}"
