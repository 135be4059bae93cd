"""The first thing on a host: take benchforge's files if they are not there, and become its far end.

The text of this file is sent to the host: it needs the standard library only.
"""

import hashlib
import io
import json
import os
import select
import shutil
import stat
import sys
import tarfile
from pathlib import Path

_WRONG_PYTHON = 3
_SILENT_S = 5.0  # of the other side, which sends without a pause: the link is cut


def read(count: int) -> bytes:
    """Read that many bytes and no more: the rest is for the far end."""
    data = b""
    while len(data) < count:
        readable, _, _ = select.select([0], [], [], _SILENT_S)
        if not readable or not (more := os.read(0, count - len(data))):
            sys.exit(_WRONG_PYTHON)
        data += more
    return data


def read_line() -> bytes:
    """Return a line."""
    data = b""
    while not data.endswith(b"\n"):
        data += read(1)
    return data


def tell(**values: object) -> None:
    """Answer with a line."""
    os.write(1, json.dumps(values).encode() + b"\n")


def main() -> None:
    """Answer whether the files are there, take them if not, and start the far end."""
    header = json.loads(read_line())
    version = ".".join(map(str, sys.version_info[:3]))
    machine = os.uname().machine
    if list(sys.version_info[:2]) != header["minor"] or machine != header["machine"]:
        tell(python=version, machine=machine)
        sys.exit(_WRONG_PYTHON)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    home = Path(cache) / "benchforge/hosts"
    interpreter = hashlib.sha256(f"{base} {version}".encode()).hexdigest()[:8]
    target = home / f"{header['digest']}-{interpreter}"
    for folder in (home.parent, home, target):
        if folder.exists():
            private(folder)
    have = target.is_dir()
    tell(python=version, machine=machine, have=have)
    if not have:
        put(read(header["size"]), target, base, version)
    python = str(target / "bin/python")
    os.execv(python, [python, "-I", "-m", "benchforge.remote.agent"])  # noqa: S606 - our own program


def private(folder: Path) -> None:
    """Exit where another user owns a folder, or may write there: what is in it would be run."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        sys.exit(f"{folder} is not a folder of this user alone: programs in it are not run")


def put(packed: bytes, key_path: Path, base: Path, version: str) -> None:
    """Unpack the files into a virtual environment, which appears whole, by a rename."""
    home = key_path.parent
    home.parents[1].mkdir(mode=0o755, parents=True, exist_ok=True)
    for folder in (home.parent, home):
        folder.mkdir(mode=0o700, exist_ok=True)
    for old in key_path.parent.glob("*.half-*"):
        if not Path("/proc", old.name.rpartition("-")[2]).is_dir():
            shutil.rmtree(old, ignore_errors=True)
    half = key_path.with_name(f"{key_path.name}.half-{os.getpid()}")
    minor = ".".join(version.split(".")[:2])
    site = half / f"lib/python{minor}/site-packages"
    half.mkdir(mode=0o700)
    site.mkdir(parents=True)
    (half / "bin").mkdir()
    (half / "bin/python").symlink_to(base)
    config = f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {version}\n"
    (half / "pyvenv.cfg").write_text(config)
    ended = select.poll()
    ended.register(0, select.POLLRDHUP)
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        for entry in tar:
            if ended.poll(0):  # the next start removes what is here
                sys.exit(_WRONG_PYTHON)
            path, file = site / entry.name, tar.extractfile(entry)
            if file is not None and ".." not in path.parts:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.read())
                path.chmod(entry.mode)
    try:
        half.rename(key_path)
    except OSError:  # another session was faster
        shutil.rmtree(half, ignore_errors=True)


main()
