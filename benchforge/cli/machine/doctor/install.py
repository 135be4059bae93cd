"""Download of the Debian packages that programs come with."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchforge.cli.console.say import say, show
from benchforge.cli.machine.doctor.fetch import fetch
from benchforge.parts.command import Need
from benchforge.run.locate import missing, unpack_into
from benchforge.run.programs.needed import Users, how
from benchforge.run.sandbox.host import LocalHost


def install(needs: Mapping[Need, Users], folder: Path, *, all_of_them: bool) -> bool:
    """Fetch what is missing. Return whether something still is: with `all_of_them` anything."""
    absent = missing(needs, folder)
    wanted = sorted({need.debian for need in absent if need.debian})
    complaints: Sequence[str] = ()
    if wanted:
        into = unpack_into()
        say(f"fetching from Debian into {into}: {', '.join(wanted)}")
        fetched = fetch(wanted, into, LocalHost())
        for line in fetched.packages:
            show(line)
        complaints = fetched.complaints
        for line in complaints:
            say(f"error: {line}")
    else:
        show("nothing to fetch: all Debian packages are installed")
    left = missing(absent, folder)
    for need in left:
        if need.debian or all_of_them:
            say(f"error: missing {need.kind}: {need.name}\nhint: {how(need)}")
    lacks = left if all_of_them else [need for need in left if need.debian]
    return bool(complaints or lacks)
