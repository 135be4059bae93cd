"""The manifest again: whether the files are those that the result had when its run ended."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.files.folder import CEILING, HEADER, SESSIONS, TRIAL
from benchforge.model.files.manifest import Manifest, is_measured, place_of
from benchforge.results.recomputed.verified import Recomputed, Values
from benchforge.run.disk.manifest import MOST_BYTES, listable
from benchforge.text import door
from benchforge.text.steps import steps

Digests = Callable[[str], str]
"SHA-256 of a file of a result, by its name. Raises OSError."


def digests_of(folder: Path) -> Digests:
    """Return the digests of the files in a folder; each file is read once."""
    return cache(lambda name: door.sha256(folder, name, MOST_BYTES))


def changed_files(manifest: Parsed[Manifest], digest_of: Digests) -> Values:
    """Yield the digest of each listed file, and what contradicts the list."""
    folder, lists = manifest.file.parent, manifest.file.name
    for name, digest in steps([*manifest.model.files.items()], "files"):
        path = ("files", name)
        try:
            digest_now = digest_of(name)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            if not missing or _needed(name):
                reason = "was removed" if missing else error.strerror
                yield manifest.fault(f"{reason}, but was in the result when the run ended", *path)
            elif is_measured(name):
                yield Recomputed(manifest, path, cannot=f"{name} was removed")
            continue
        if digest_now == digest:
            yield Recomputed(manifest, path, digest_now)
        else:
            yield FileFault(folder / name, "", None, f"is not the file that {lists} lists")
    covered = {place_of(name) for name in manifest.model.files} - {""}
    for name in listable(folder):
        if name in manifest.model.files or place_of(name) not in covered:
            continue
        if (size := _size(folder, name)) > MOST_BYTES:  # a program of the trial may have written it
            reason = f"has more than 1 GiB, and is not in {lists}: it may have been added later"
            yield FileFault(folder / name, "", None, reason, "unreadable")
        elif size >= 0:
            yield FileFault(folder / name, "", None, f"is not in {lists}: it was added later")


def _needed(name: str) -> bool:
    """Whether a result without this file is a result of other trials."""
    return (
        name == HEADER or name.startswith(f"{SESSIONS}/") or name.endswith((f"/{TRIAL}", CEILING))
    )


def _size(folder: Path, name: str) -> int:
    """Return the bytes of a file, and -1 for a link or a pipe: of these a manifest says nothing."""
    try:
        return door.size_of(folder, name)
    except OSError:
        return -1
