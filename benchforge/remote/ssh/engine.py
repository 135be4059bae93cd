"""The engine `ssh`: the user's own client, whose end is the end of all that runs on a host."""

import contextlib
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from benchforge.errors import ProgramMissing
from benchforge.model.suite.placement import HostTable
from benchforge.remote import wire
from benchforge.remote.calls import Losses, PipeConnection, boot_script
from benchforge.remote.session.session import hosts_of_run
from benchforge.run.locate import locate
from benchforge.suite.suite import Suite

COMMAND = "BENCHFORGE_SSH_COMMAND"
"Environment variable with the ssh command and its first options, as git's GIT_SSH_COMMAND."
ENDS_WITHIN_S = 10.0
_KEPT, _LAST_S = 1 << 12, 1.0
"Bytes of its errors that are kept, and seconds to wait for the last of them."
_OPTIONS = (
    *("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "ForwardX11=no"),
    *("ClearAllForwardings=yes", "PermitLocalCommand=no", "ControlMaster=no", "ControlPath=none"),
    *("ConnectTimeout=8", "ServerAliveInterval=1", "ServerAliveCountMax=4", "EscapeChar=none"),
)


class SshPipe:
    """The pipes of an ssh client."""

    def __init__(self, table: HostTable) -> None:
        self._process = subprocess.Popen(
            _words(table),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C goes to benchforge, which decides
        )
        self._last = b""
        self._errors = threading.Thread(target=self._drain, daemon=True)
        self._errors.start()

    def _drain(self) -> None:
        """Read its errors, and keep the last of them: the host never waits for a reader."""
        assert self._process.stderr is not None  # noqa: S101 - it is a pipe
        with self._process.stderr as errors:
            while more := os.read(errors.fileno(), 1 << 16):
                self._last = (self._last + more)[-_KEPT:]

    def write(self, content: bytes) -> None:
        """Write to the far end's input. Raises OSError or ValueError."""
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        self._process.stdin.write(content)
        self._process.stdin.flush()

    def line(self) -> bytes:
        """Return the next line of its output; nothing at the end."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        with contextlib.suppress(ValueError):  # it was closed
            return self._process.stdout.readline(wire.LARGEST_LINE)
        return b""

    def kill(self) -> None:
        """End the client at once."""
        self._process.kill()

    def close(self) -> None:
        """End the host's part; once is enough, twice does no harm."""
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def complaint(self) -> str:
        """Return the last line that ssh or the host printed."""
        deadline = time.monotonic() + ENDS_WITHIN_S
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        if self._process.poll() is None:
            return "ssh closed its output, and still runs"
        self._errors.join(_LAST_S)
        lines = self._last.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"ssh ended with exit code {self._process.returncode}"


def _words(table: HostTable) -> list[str]:
    ssh = shlex.split(os.environ.get(COMMAND, "")) or ["ssh"]
    if locate(ssh[0]) is None:
        raise ProgramMissing(f"missing program: {ssh[0]}", "apt-get install openssh-client")
    options = [word for option in _OPTIONS for word in ("-o", option)]
    script = f"exec sh -c {shlex.quote(boot_script(table.python))}"
    return [*ssh, "-T", *options, "--", str(table.ssh), script]


@contextlib.contextmanager
def connecting(suite: Suite) -> Iterator[Callable[[str, Losses], PipeConnection]]:
    """Give what connects a host by its label."""

    def connect(label: str, losses: Losses) -> PipeConnection:
        table = suite.hosts[label]
        hint = f"try: ssh {shlex.quote(str(table.ssh))} true"
        return PipeConnection(label, SshPipe(table), losses, hint)

    yield connect


engine = partial(hosts_of_run, connecting)
