"""Calls to one host: lines of JSON over a pipe that an engine carries."""

import base64
import contextlib
import platform
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Generic, Protocol

from pydantic import TypeAdapter

from benchforge.errors import ProgramMissing
from benchforge.remote import answers, wire
from benchforge.remote.answers import BootAnswer, CallAnswer, FailedCall, LostTrial, T
from benchforge.remote.archive import Archive, FileCache

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
        self.lost: wire.HostLost | wire.HostFault | None = None

    def note(self, loss: wire.HostLost | wire.HostFault) -> None:
        """Note that a host is lost; the first counts."""
        with self.changed:
            self.lost = self.lost or loss
            self.changed.notify_all()


@dataclass(frozen=True)
class SentCall(Generic[T]):
    """A call of a method of a host; a host answers in the order of its calls."""

    method: Callable[..., T]
    number: int
    within_s: float
    deadline_s: float


class PipeConnection:
    """Calls to one host: `send` returns at once, `result` waits. `hint` is for a silent host."""

    def __init__(self, label: str, pipe: Pipe, losses: Losses, hint: str) -> None:
        self.label = label
        self._pipe, self._losses, self._hint = pipe, losses, hint
        self._pending: deque[SentCall[Any]] = deque()
        self._answers: dict[int, CallAnswer[Any] | FailedCall] = {}
        self._number = 0
        self._closing = self._leased = False
        self._heard_s = 0.0
        self._writing = threading.Lock()
        self.hide: Callable[[str], str] = str
        "Takes secrets out of what the host complains of."

    def bring_files(self, files: Archive) -> None:
        """Give the host files of the user's, unless it has them. Raises HostLost."""
        has = self.call(FileCache.has, digest=files.digest)
        for begin in () if has else range(0, len(files.packed), wire.CHUNK):
            piece = base64.b64encode(files.packed[begin : begin + wire.CHUNK]).decode()
            last = begin + wire.CHUNK >= len(files.packed)
            self.call(FileCache.take, digest=files.digest, piece=piece, first=not begin, last=last)

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
            if answer.have is None:
                local = f"{sys.version_info[0]}.{sys.version_info[1]} for {platform.machine()}"
                remote = f"its Python is {answer.python} for {answer.machine}"
                message = f"hosts.{self.label}: {remote}, and benchforge's own is {local}"
                name = f'python = "/path/python{local[:4]}"'
                raise ProgramMissing(message, f"install the same minor version, or name it: {name}")
            if not answer.have:
                self._write(files.packed)
            # Its first word comes once it has unpacked and imported all: a busy host takes long.
            self._heard_s = time.monotonic() + BOOTS_WITHIN_S - wire.SILENT_S
            self._leased = True
        finally:
            timer.cancel()
        threading.Thread(target=self._read, daemon=True).start()

    def _first_answer(self) -> BootAnswer:
        """Return the first line that is one of ours: a shell's profile may print others before."""
        while line := self._pipe.line():
            if line.lstrip().startswith(b'{"python":'):
                try:
                    return answers.parsed(TypeAdapter(BootAnswer), line)
                except ValueError as error:
                    raise self._fault("its first answer", error) from None
        raise ProgramMissing(f"hosts.{self.label}: {self._pipe.complaint()}", self._hint)

    def _fault(self, subject: str, error: object) -> wire.HostFault:
        return wire.HostFault(self.label, f"{subject} is not one of benchforge's: {error}")

    def send(
        self, method: Callable[..., T], lasts_s: float = 0.0, **arguments: object
    ) -> SentCall[T]:
        """Call a method of the host, which may do something else for `lasts_s` seconds.

        Its time begins after that of earlier calls. Raises HostLost and HostFault.
        """
        self._number += 1
        begins_s = max([time.monotonic(), *(sent.deadline_s for sent in [*self._pending][-1:])])
        within_s = answers.ANSWERS_WITHIN_S + lasts_s
        sent = SentCall(method, self._number, within_s, begins_s + within_s)
        self._pending.append(sent)
        self._write(wire.line({"id": sent.number, "do": method.__name__, "with": arguments}))
        return sent

    def result(self, sent: SentCall[T]) -> T:
        """Return the answer to a call.

        Raises what the host raised, and HostLost or HostFault as soon as any host is lost.
        """
        with self._losses.changed:
            while sent.number not in self._answers:
                if self._losses.lost is not None:
                    raise self._losses.lost
                self._losses.changed.wait()
            answer = self._answers.pop(sent.number)
        if isinstance(answer, FailedCall):
            raise answer.error.raised(self.label, self.hide)
        value: T = answer.value
        return value

    def call(self, method: Callable[..., T], lasts_s: float = 0.0, **arguments: object) -> T:
        """Send a call and return its answer."""
        return self.result(self.send(method, lasts_s, **arguments))

    def beat(self) -> None:
        """Send a beat, each second, and look whether the host still answers.

        It sends none while files cross, which it would damage, or while a call is written.
        """
        if not self._leased:
            return
        now_s, late = time.monotonic(), ""
        for sent in [*self._pending][:1]:
            if now_s > sent.deadline_s:
                late = f"the call {sent.method.__name__} within {sent.within_s:.3g} s"
        if now_s - self._heard_s > wire.SILENT_S:
            late = f"for {wire.SILENT_S:g} s"
        if late:
            self._losses.note(wire.HostLost(self.label, f"it did not answer {late}"))
            self._pipe.kill()
        with contextlib.suppress(wire.HostLost, wire.HostFault):  # it is noted
            self._write(b"\n", waits=False)

    def close(self) -> None:
        """End the host's part; once is enough, twice does no harm."""
        self._closing = True
        if not self._leased:  # it may not listen yet, and has nothing to end in order
            self._pipe.kill()
        self._pipe.close()

    def _read(self) -> None:
        loss: wire.HostLost | wire.HostFault | None = None
        while loss is None and (line := self._pipe.line()):
            self._heard_s = time.monotonic()
            if line != b"\n":
                loss = self._loss_in(line)
        if not self._closing:
            self._losses.note(loss or wire.HostLost(self.label, self._pipe.complaint()))

    def _loss_in(self, line: bytes) -> wire.HostLost | wire.HostFault | None:
        """Take the answer to the first call that waits; return why the host is lost, if it is."""
        pending = self._pending[0] if self._pending else SentCall(wire.line, 0, 0.0, 0.0)
        subject = f"its answer to {pending.method.__name__}" if pending.number else "what it says"
        try:
            answer = answers.answer_to(pending.method, line)
        except ValueError as error:
            return self._fault(subject, error)
        if isinstance(answer, LostTrial):
            return wire.HostLost(self.label, " ".join(self.hide(answer.reason).split()))
        if answer.id != pending.number:
            return self._fault(subject, f"id: {answer.id} instead of {pending.number}")
        with self._losses.changed:
            self._pending.popleft()
            self._answers[answer.id] = answer
            self._losses.changed.notify_all()
        return None

    def _write(self, content: bytes, *, waits: bool = True) -> None:
        if not self._writing.acquire(blocking=waits):
            return
        try:
            if self._losses.lost is not None:  # a call that waited for a beat that failed
                raise self._losses.lost
            self._pipe.write(content)
        except (OSError, ValueError) as error:
            if self._losses.lost is None and not self._closing:
                self._losses.note(wire.HostLost(self.label, self._pipe.complaint()))
            lost = self._losses.lost
            raise lost or wire.HostLost(self.label, "its connection was closed") from error
        finally:
            self._writing.release()


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
