"""The engine `ssh`: the user's own client, whose end is the end of all that runs on a host."""

import contextlib
import os
import shlex
import subprocess
import threading
from functools import partial
from typing import IO

from benchforge.errors import ProgramMissing
from benchforge.model.suite.placement import HostTable
from benchforge.remote import wire
from benchforge.remote.calls import Losses, PipeConnection, boot_script
from benchforge.remote.session.session import Connect, hosts_of_run
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
        pipe = subprocess.PIPE  # in a session of its own: Ctrl-C goes to benchforge, which decides
        self._process = process = subprocess.Popen(
            _words(table), stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        assert process.stdin and process.stdout and process.stderr  # noqa: PT018, S101 - pipes
        self._input, self._output, self._last = process.stdin, process.stdout, b""
        self._errors = threading.Thread(target=self._drain, args=(process.stderr,), daemon=True)
        self._errors.start()

    def _drain(self, errors: IO[bytes]) -> None:
        """Read its errors, and keep the last of them: the host never waits for a reader."""
        with errors:
            while more := os.read(errors.fileno(), 1 << 16):
                self._last = (self._last + more)[-_KEPT:]

    def write(self, content: bytes) -> None:
        """Write to the far end's input. Raises OSError or ValueError."""
        self._input.write(content)
        self._input.flush()

    def line(self) -> bytes:
        """Return the next line of its output; nothing at the end."""
        with contextlib.suppress(ValueError):  # it was closed
            return self._output.readline(wire.LARGEST_LINE)
        return b""

    def kill(self) -> None:
        """End the client at once."""
        self._process.kill()

    def close(self) -> None:
        """End the host's part; once is enough, twice does no harm."""
        with contextlib.suppress(OSError, ValueError):
            self._input.close()
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def complaint(self) -> str:
        """Return the last line that ssh or the host printed."""
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
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


def connecting(suite: Suite) -> "contextlib.AbstractContextManager[Connect]":
    """Give what connects a host by its label."""
    return contextlib.nullcontext(partial(_connected, suite))


def _connected(suite: Suite, label: str, losses: Losses) -> PipeConnection:
    table = suite.hosts[label]
    hint = f"try: ssh {shlex.quote(str(table.ssh))} true"
    return PipeConnection(label, SshPipe(table), losses, hint)


engine = partial(hosts_of_run, connecting)
