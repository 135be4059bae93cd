"""Taking secrets out of what programs wrote themselves, once they have ended."""

import os
import secrets as random
import stat
from collections.abc import Collection
from pathlib import Path

from benchforge.parts.content import LARGEST_FILE
from benchforge.suite.secrets import redact, redacted_bytes
from benchforge.text.door import OWN

PRIVATE = 0o700
"The mode of a folder that programs write into: nobody else looks before its secrets are hidden."


def hide_below(folder: Path, secrets: Collection[str]) -> None:
    """Take secrets out of the files below a folder, and out of names. Raises OSError.

    Links are not followed. Nothing may write there any more.
    """
    if not secrets:
        return
    for path in reversed(_below(folder)):
        _hide(path, secrets)


def _below(folder: Path) -> list[Path]:
    """Return all below a folder, each folder before its content; not recursive, at any depth."""
    paths: list[Path] = []
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                paths.append(Path(entry.path))
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
    return paths


def _hide(path: Path, secrets: Collection[str]) -> None:
    status = path.lstat()
    if stat.S_ISREG(status.st_mode):
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE)  # nobody reads the rest, which may be without end
        hidden = redacted_bytes(data, secrets)
        if status.st_size > len(data):
            data = b""
        if hidden != data:
            _replace(path, hidden, stat.S_IMODE(status.st_mode))
    elif stat.S_ISLNK(status.st_mode) and redact(to := os.fsdecode(path.readlink()), secrets) != to:
        path.unlink()
    if (name := redact(path.name, secrets)) != path.name:
        path.rename(path.with_name(name))


def _replace(path: Path, data: bytes, mode: int) -> None:
    """Put a new file in the place of one, which may be linked from elsewhere."""
    new = path.with_name(f".bf-{random.token_hex(8)}")
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, OWN)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(descriptor, mode)
        new.rename(path)
    finally:
        new.unlink(missing_ok=True)
