"""Programs that Debian has, fetched without root into a folder of ours."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchforge.parts.command import Command, Finished
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.sandbox.host import Host
from benchforge.run.sandbox.sandbox import Running, Sandbox

SCRIPT = Path(__file__).with_name("debian.sh")
_WITHIN_S = 1800.0  # many packages over a slow line
_PASSED = ("ALL_PROXY", "APT_CONFIG", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@dataclass(frozen=True)
class Fetched:
    """What came of it: a line for each package, and one for each that cannot be had."""

    packages: tuple[str, ...]
    complaints: tuple[str, ...]


def fetch(packages: Sequence[str], folder: Path, host: Host) -> Fetched:
    """Have packages unpacked below a folder, beside those that are there.

    When it is interrupted, the folder is as it was. Raises TrialFailed when nothing can be started.
    """
    passed = {name: value for name, value in os.environ.items() if name.upper() in _PASSED}
    command = Command("sh", SCRIPT, folder, *packages)
    with scratch_folder() as own, host.trial(own, "host") as sandbox:
        running = sandbox.start("debian", command, own, passed)
        done = _ended(sandbox, running)
        printed = done.printed.splitlines()
        wrong = done.complained.splitlines()
    if done.code and not wrong:
        wrong = [f"it ended with exit code {done.code}"]
    return Fetched(tuple(map(_line, printed)), tuple(map(_line, wrong)) if done.code else ())


def _ended(sandbox: Sandbox, running: Running) -> Finished:
    """Wait for the end; whatever comes between, the script clears away behind itself."""
    try:
        if (done := sandbox.wait(running, _WITHIN_S)) is not None:
            return done
    except BaseException:
        sandbox.stop(running)
        raise
    return sandbox.stop(running)


def _line(text: str) -> str:
    return text.removeprefix("debian: ")
