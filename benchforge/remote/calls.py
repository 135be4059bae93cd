"""Calls to one host: lines of JSON over a pipe that an engine carries."""

import base64
import contextlib
import json
import platform
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any, Protocol

from benchforge.errors import ProgramMissing
from benchforge.remote import wire
from benchforge.remote.archive import Archive

BOOTS_WITHIN_S = 60.0
_BOOT = Path(__file__).with_name("boot.py")
"Sent as text: to import it would be to run it."


class Pipe(Protocol):
    """The standard input and output of the far end, as an engine carries them."""

    def write(self, content: bytes) -> None:
        """Write to its input. Raises OSError or ValueError."""

    def line(self) -> bytes:
        """Return the next line of its output; nothing at the end."""
        ...

    def complaint(self) -> str:
        """Return why it ended."""
        ...

    def kill(self) -> None:
        """End it at once."""

    def close(self) -> None:
        """End its input, and wait for its end; once is enough, twice does no harm."""


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


class PipeConnection:
    """Calls to one host. `send` returns a number at once; `result` waits for its answer.

    `hint` is what to try where the host answers nothing.
    """

    def __init__(self, label: str, pipe: Pipe, losses: Losses, hint: str) -> None:
        self.label = label
        self._pipe, self._losses, self._hint = pipe, losses, hint
        self._answers: dict[int, dict[str, Any]] = {}
        self._number = 0
        self._closing = self._leased = False
        self._heard_s = 0.0
        self._writing = threading.Lock()
        self.hide: Callable[[str], str] = str
        "Takes secrets out of what the host complains of."

    def bring_files(self, files: Archive) -> None:
        """Give the host files of the user's, unless it has them. Raises HostLost."""
        there = self.call("has", digest=files.digest)
        for at in () if there else range(0, len(files.packed), wire.CHUNK):
            piece = base64.b64encode(files.packed[at : at + wire.CHUNK]).decode()
            last = at + wire.CHUNK >= len(files.packed)
            self.call("take", digest=files.digest, piece=piece, first=not at, last=last)

    def bring(self, files: Archive) -> None:
        """Give the host what it does not have, and start the far end. Raises ProgramMissing."""
        timer = threading.Timer(BOOTS_WITHIN_S, self._pipe.kill)
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
            # Its first word comes once it has unpacked and imported all: a busy host takes long.
            self._heard_s = time.monotonic() + BOOTS_WITHIN_S - wire.SILENT_S
            self._leased = True
        finally:
            timer.cancel()
        threading.Thread(target=self._read, daemon=True).start()

    def _first_answer(self) -> dict[str, Any]:
        """Return the first line that is one of ours: a shell's profile may print others before."""
        while line := self._pipe.line():
            with contextlib.suppress(ValueError):
                answer = json.loads(line)
                if isinstance(answer, dict) and "python" in answer:
                    return answer
        raise ProgramMissing(f"hosts.{self.label}: {self._pipe.complaint()}", self._hint)

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
            raise wire.raised(self.label, answer["error"], self.hide)
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
            self._pipe.kill()
        with contextlib.suppress(wire.HostLost):  # it is noted
            self._write(b"\n")

    def close(self) -> None:
        """End the host's part; once is enough, twice does no harm."""
        self._closing = True
        if not self._leased:  # it may not listen yet, and has nothing to end in order
            self._pipe.kill()
        self._pipe.close()

    def _read(self) -> None:
        why = ""
        while line := self._pipe.line():
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
            self._losses.note(self.label, why or self._pipe.complaint())

    def _write(self, content: bytes) -> None:
        try:
            with self._writing:
                if self._losses.lost is not None:  # a call that waited for a beat that failed
                    raise self._losses.lost
                self._pipe.write(content)
        except (OSError, ValueError) as error:
            if self._losses.lost is None and not self._closing:
                self._losses.note(self.label, self._pipe.complaint())
            lost = self._losses.lost
            raise lost or wire.HostLost(self.label, "its connection was closed") from error


def boot_script(python: str | None) -> str:
    """Return what a shell on the host runs: the first Python there, with the boot program."""
    minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
    names = [python] if python else [f"python{minor}", "python3"]
    program = quote(_BOOT.read_text(encoding="utf-8"))
    tries = " ".join(map(quote, names))
    missing = quote(f"no Python: {' and '.join(names)} are not on its PATH")
    return (
        f'for name in {tries}; do p=$(command -v "$name") && exec "$p" -I -c {program}; done; '
        f"echo {missing} >&2; exit 127"
    )
