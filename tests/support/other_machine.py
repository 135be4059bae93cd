"""This machine with other programs on it, for one program and all that it starts.

`hidden` are files that it then lacks, as if no package had brought them; `shown` is a root of
unpacked packages whose files it then has in their places, as if they were installed. Nothing is
changed outside: both are layers of an overlay in a mount namespace.
"""

import itertools
import os
import shlex
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from front_door import captured, lack

NOBODY = 65534
USERS = {"root": 0, "nobody": NOBODY} if os.getuid() == 0 else {"user": os.getuid()}
_USR = Path("/usr")
_NUMBERS = itertools.count()


def other_machine(
    folder: Path,
    user: int,
    hidden: Iterable[Path] = (),
    path: Path | None = None,
    emptied: Path | None = None,
) -> list[str]:
    """Return the words that go before a program, so that `user` runs it on another machine.

    `folder` holds the layers; `emptied` is a folder that shows nothing then. Leaves the test where
    the machine refuses.
    """
    layers = folder / f"layers-{next(_NUMBERS)}"
    lower = [_whiteouts(layers / "hidden", hidden)]
    if path is not None:
        lower += [_merged(layers / "shown", path), path / "usr"]
    stack = ":".join(map(str, [*lower, _USR]))
    steps = [f"mount -t overlay overlay -o {shlex.quote(f'lowerdir={stack}')} {_USR}"]
    if emptied is not None:
        steps.append(f"mount -t tmpfs tmpfs {shlex.quote(str(emptied))}")
    words = ["unshare", "--mount", *(["--user", "--map-root-user"] if os.getuid() else [])]
    words += ["sh", "-c", f'{" && ".join(steps)} && exec "$@"', "sh", *_as(user)]
    refused = captured([*words, "true"])
    if refused.returncode:
        lack(f"no other machine: {refused.stderr.strip()}")
    return words


def _as(user: int) -> list[str]:
    if os.getuid():
        return ["unshare", "--user", f"--map-user={user}", f"--map-group={os.getgid()}"]
    if user:
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return []


def _whiteouts(layer: Path, hidden: Iterable[Path]) -> Path:
    """Make a layer in which files of /usr are marked as removed."""
    layer.mkdir(parents=True)
    for file in hidden:
        # /lib and /bin lead into /usr; what a link is called must go, not what it leads to.
        below = (file.parent.resolve() / file.name).relative_to(_USR)
        (layer / below).parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(layer / below):
            os.mknod(layer / below, stat.S_IFCHR, os.makedev(0, 0))
    return layer


def _merged(layer: Path, root: Path) -> Path:
    """Make a layer of what packages put below /lib, which is /usr/lib where they are installed."""
    layer.mkdir(parents=True)
    if (root / "lib").is_dir():
        shutil.copytree(root / "lib", layer / "lib", symlinks=True)
    return layer


def of_packages(names: Iterable[str]) -> list[Path]:
    """Return each file by which this machine has these programs and libraries, wherever it is."""
    folders = [Path(item) for item in [*os.defpath.split(":"), "/usr/local/bin", "/usr/sbin"]]
    libraries = [*_USR.glob("lib/*-linux-gnu*"), _USR / "lib", _USR / "local/lib"]
    actual = [file for name in names for folder in folders for file in folder.glob(name)]
    actual += [file for name in names for path in libraries for file in path.glob(f"{name}.so*")]
    return [file for file in actual if _USR in file.parent.resolve().parents]
