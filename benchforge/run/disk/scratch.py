"""Folders for what nobody keeps: the kernel knows who uses each, however that process ends."""

import contextlib
import errno
import functools
import os
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchforge.errors import CannotKeep

PREFIX = "bf-"
BESIDE = f".{PREFIX}"
"Beside results: what is not yet one, or is one no more."
HALF = "half-"
"Beside templates: the same."
# Ours from the moment it is there, however soon we are killed: nobody else makes private folders
# with the sticky bit, which does nothing in a folder that only its owner can write to.
_MODE = 0o1700
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW  # never inherited: see PEP 446
_OWNER = "owner"
_ATTEMPTS = 5
_LONGEST = 88  # bytes: below it stand a service's number and its socket, /0/.s.PGSQL.65432
_SHORT = Path("/tmp")  # noqa: S108 - in it only a private folder with a link
_LINK = f"{PREFIX}to-"
_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - who has TMPDIR there may lack it the next time


@contextlib.contextmanager
def scratch_folder(prefix: str = PREFIX) -> Iterator[Path]:
    """Give a private folder with a short path: that of a socket ends at 107 bytes.

    What is in it goes with it. Raises CannotKeep.
    """
    note = f"benchforge, process {os.getpid()}; if that was killed, the next removes this\n"
    with contextlib.ExitStack() as stack:
        try:
            with uninterrupted():
                folder = stack.enter_context(claimed(Path(tempfile.gettempdir()), prefix))
                stack.callback(_gone, folder)  # twice: a signal may end the first as it begins
                stack.callback(_gone, folder)
            (folder / _OWNER).write_text(note)
        except OSError as error:
            message = f"{tempfile.tempdir or 'scratch'}: {error.strerror}"
            raise CannotKeep(message, "free some space there, or set TMPDIR") from error
        with contextlib.suppress(OSError):
            if len(os.fsencode(folder)) > _LONGEST:
                with uninterrupted():
                    link = stack.enter_context(claimed(_SHORT, _LINK)) / "scratch"
                    stack.callback(_gone, link.parent)
                    stack.callback(_gone, link.parent)
                link.symlink_to(folder)
                folder = link
        yield folder


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep signals that end us waiting: what is made meanwhile gets its name, or is removed."""
    if not hasattr(signal, "pthread_sigmask"):  # a reader of results on another system
        yield
        return
    ending = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    earlier_mask = signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier_mask)


@contextlib.contextmanager
def claimed(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that is known to be in use until we leave, or are gone."""
    for _ in range(_ATTEMPTS):
        folder = _made(parent, prefix)
        if (lock := claim(folder)) is not None:
            break
        # Who clears away was faster between the two lines.
        with contextlib.suppress(OSError):
            folder.rmdir()
    else:  # a file system without locks: nobody else can claim it either
        folder, lock = _made(parent, prefix), -1
    try:
        yield folder
    finally:
        if lock >= 0:
            os.close(lock)


def claim(folder: Path) -> int | None:
    """Return a descriptor that holds a folder; None where somebody uses it, or it is gone."""
    with contextlib.suppress(OSError):
        lock = os.open(folder, _FOLDER)
        with contextlib.suppress(OSError):
            if _locked(lock) and os.path.samestat(os.fstat(lock), folder.stat()):
                return lock
        os.close(lock)
    return None


def abandoned(*parents: Path) -> list[Path]:
    """Return scratch folders that killed benchforges left, also beside results in `parents`."""
    try:
        usual = Path(tempfile.gettempdir())
    except OSError:  # every disk is full, and who cleans wants to end that
        usual = Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - nothing is written there
    scratch = {path for key_path in {usual, _IN_MEMORY} for path in key_path.glob(f"{PREFIX}*")}
    folders = sorted(scratch | {*_SHORT.glob(f"{_LINK}*")})
    folders += [path for top in dict.fromkeys(parents) for path in sorted(top.glob(f"{BESIDE}*"))]
    return [folder for folder in folders if _ours(folder) and free(folder)]


def free(folder: Path) -> bool:
    """Whether a folder is there, and nobody uses it."""
    if (lock := claim(folder)) is not None:
        os.close(lock)
    return lock is not None


def removed(folder: Path) -> bool:
    """Remove a folder, unless somebody uses it; whether it is gone."""
    if (lock := claim(folder)) is None:
        return False
    try:
        _gone(folder)
    finally:
        os.close(lock)
    return not folder.exists()


def emptied(folder: Path) -> None:
    """Remove all in a folder, however deep it is and whoever closed it. Raises OSError.

    shutil.rmtree recurses: a thousand folders in one another end it. Here each folder in a folder
    is moved up, so that no path is ever longer than two names.
    """
    while inner := [entry for entry in [*folder.iterdir()] if _is_folder(entry)]:
        for subfolder in inner:
            subfolder.chmod(0o700)
            for entry in [*subfolder.iterdir()]:
                if _is_folder(entry):
                    entry.chmod(0o700)  # else it could not be moved
                    entry.rename(folder / os.urandom(16).hex())
                else:
                    entry.unlink()
            subfolder.rmdir()
    for entry in [*folder.iterdir()]:
        entry.unlink()


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


@uninterrupted()
def _gone(folder: Path) -> None:
    with contextlib.suppress(OSError):
        emptied(folder)
        folder.rmdir()


def stays(folder: Path) -> None:
    """Let a folder of ours be one that nobody clears away."""
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~stat.S_ISVTX)


def away(folder: Path, prefix: str) -> None:
    """Remove a folder so that it is whole or gone, whenever we end. Raises OSError.

    The caller holds it. Nothing is made, which a full disk would refuse.
    """
    with contextlib.suppress(OSError):  # another user's
        folder.chmod(_MODE)
    gone = folder.with_name(f"{prefix}{os.urandom(4).hex()}")
    try:
        folder.rename(gone)
    except OSError as error:
        if error.errno != errno.EXDEV:  # from a layer below, such as an image's, nothing is moved
            raise
        gone = folder
    emptied(gone)
    gone.rmdir()


def _made(parent: Path, prefix: str) -> Path:
    while True:
        folder = parent / f"{prefix}{os.urandom(4).hex()}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(_MODE)
            return folder


def _ours(folder: Path) -> bool:
    """Whether a benchforge of this user made a folder, whatever else is named so."""
    try:
        status = folder.lstat()
    except OSError:  # it went meanwhile
        return False
    # A folder whose entries belong to its group hands that on to all that are made in it.
    mode = status.st_mode & ~stat.S_ISGID
    return status.st_uid == os.geteuid() and mode == stat.S_IFDIR | _MODE


def hold(folder: Path, *, shared: bool = False) -> int | None:
    """Return a descriptor that holds a folder until it is closed; None where another holds it.

    Several may hold it `shared`; without locks all may. Raises OSError where it does not open.
    """
    descriptor = os.open(folder, _FOLDER)
    if _locked(descriptor, shared=shared) is False:
        os.close(descriptor)
        return None
    return descriptor


def _locked(descriptor: int, *, shared: bool = False) -> bool | None:
    """Lock a folder; return False where another has it, None where there are no locks."""
    try:
        import fcntl  # noqa: PLC0415 - readers of results run without it

        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (OSError, ImportError):
        return None
    return True


@functools.cache
def use(folder: Path) -> None:
    """Keep a folder from being cleaned away as long as we live. Raises OSError where it is gone."""
    if hold(folder, shared=True) is None:
        raise OSError(errno.EBUSY, "is being removed", str(folder))
    with contextlib.suppress(OSError):  # somebody else's, or read-only: then its age tells less
        os.utime(folder)
