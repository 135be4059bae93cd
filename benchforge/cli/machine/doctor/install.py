"""Download of the Debian packages that programs come with."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchforge.cli.console.say import say, show
from benchforge.parts.command import Command, Finished, Need
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import missing, unpack_into
from benchforge.run.programs.needed import Users, how
from benchforge.run.sandbox.host import Host, LocalHost
from benchforge.run.sandbox.sandbox import Running, Sandbox

SCRIPT = Path(__file__).with_name("debian.sh")
_WITHIN_S = 1800.0  # many packages over a slow line
_PASSED = ("ALL_PROXY", "APT_CONFIG", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def install(needs: Mapping[Need, Users], folder: Path, *, all_of_them: bool) -> bool:
    """Fetch missing packages. Return whether one still is: with `all_of_them` any need."""
    absent = missing(needs, folder)
    wanted = sorted({need.debian for need in absent if need.debian})
    complaints: Sequence[str] = ()
    if wanted:
        into = unpack_into()
        say(f"fetching from Debian into {into}: {', '.join(wanted)}")
        unpacked, complaints = fetch(wanted, into, LocalHost())
        for line in unpacked:
            show(line)
        for line in complaints:
            say(f"error: {line}")
    else:
        show("nothing to fetch: all Debian packages are installed")
    absent_needs = missing(absent, folder)
    for need in absent_needs:
        if need.debian or all_of_them:
            say(f"error: missing {need.kind}: {need.name}\nhint: {how(need)}")
    lacks = absent_needs if all_of_them else [need for need in absent_needs if need.debian]
    return bool(complaints or lacks)


def fetch(packages: Sequence[str], folder: Path, host: Host) -> tuple[list[str], list[str]]:
    """Unpack packages below a folder, and return a line for each, then a line for each failure.

    An interrupt leaves the folder as it was. Raises TrialFailed.
    """
    passed = {name: value for name, value in os.environ.items() if name.upper() in _PASSED}
    command = Command("sh", SCRIPT, folder, *packages)
    with scratch_folder() as scratch, host.trial(scratch, "host") as sandbox:
        running = sandbox.start("debian", command, scratch, passed)
        done = _ended(sandbox, running)
        unpacked, wrong = (
            [line.removeprefix("debian: ") for line in text.splitlines()]
            for text in (done.printed, done.complained)
        )
    wrong = wrong or [f"it ended with exit code {done.code}"]
    return unpacked, wrong if done.code else []


def _ended(sandbox: Sandbox, running: Running) -> Finished:
    """Wait for the end; the script clears up after itself, whatever comes between."""
    try:
        if (done := sandbox.wait(running, _WITHIN_S)) is not None:
            return done
    except BaseException:
        sandbox.stop(running)
        raise
    return sandbox.stop(running)
