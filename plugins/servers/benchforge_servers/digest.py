"""A digest of the files that a server serves, by which a case is known again."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from benchforge.plugin import BenchforgeError


def folder_digest(
    folder: Path, directory: str | None, holds: Callable[[Path], bool], target: str, hint: str
) -> str:
    """Return the digest of a target and of the files below a folder that it `holds`, by their path.

    `directory` is how the suite names the folder. Raises BenchforgeError where a file cannot be
    read, and for the whole file system.
    """
    total = hashlib.sha256(target.encode())
    try:
        if folder.resolve() == Path(folder.anchor):
            raise BenchforgeError(f"directory {directory}: is the whole file system", hint)
        for file in sorted(folder.rglob("*")):
            path = file.relative_to(folder)
            if holds(path) and file.is_file():
                content = file.read_bytes()
                total.update(f"{path} {len(content)} ".encode() + content)
    except OSError as error:
        raise BenchforgeError(f"{error.filename or folder}: {error.strerror}", hint) from error
    return total.hexdigest()[:16]
