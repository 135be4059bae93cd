"""Safe access to the files of a result: inside its folder, without links, up to a size limit.

A result may come from anybody, and what runs in a trial may write beside it. So the folder that a
person names is opened as it is; each name below it is opened from its folder's descriptor, and a
link there is refused. A file is written beside its place, under a name that nobody can foretell,
and renamed.
"""

import contextlib
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

from benchforge.text.readable import too_many

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LINK = "is a link: nothing in a result may be one"
_NO_FILE = "is not a file"
OWN = 0o600
"Mode of a file with secrets, which only its owner reads."
HALF = ".bf-"
"Prefix of the name of an incomplete file."
MIB = 1 << 20
_PIECE = 1 << 16  # of a file: a buffer of a megabyte takes time, and most files have less
Content = bytes | Iterable[bytes]
Lasting = bool | Literal["content"]


def steps(name: str) -> tuple[str, ...]:
    """Return the folders and the file of a name that stays below a folder.

    Raises OSError for one that does not: absolute, empty, with `..` or a control character.
    """
    parts = tuple(name.split("/"))
    if not all(map(is_name, parts)):
        raise OSError(errno.EINVAL, "is no name of a file below a folder", name)
    return parts


def is_name(part: str) -> bool:
    """Whether a text is the name of one file or folder, and not of one elsewhere."""
    return part not in {"", ".", ".."} and "/" not in part and part.isprintable()


def read(folder: Path, name: str, most: int) -> bytes:
    """Return the content of a file below a folder.

    Raises OSError for a missing file, another kind of file, a link on its way, or more than `most`
    bytes.
    """
    with opened(folder, name) as file:
        return _content(file, (folder, name), most)


def pieces(folder: Path, name: str) -> Iterator[bytes]:
    """Yield the content of a file below a folder in pieces. Raises OSError as `read` does."""
    with opened(folder, name) as file:
        yield from iter(partial(os.read, file, _PIECE), b"")


def read_named(path: Path, most: int) -> bytes:
    """Return the content of a file that a person names: links on its way are theirs.

    Raises OSError for a missing file, another kind of file, or more than `most` bytes.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, _NO_FILE, str(path))
    file = os.open(path, _READ & ~os.O_NOFOLLOW)
    try:
        return _content(file, (path,), most)
    finally:
        os.close(file)


def _content(file: int, path: tuple[Path | str, ...], most: int) -> bytes:
    size = os.fstat(file).st_size
    if size > most:
        raise _too_large(path, size, most)
    parts: list[bytes] = []
    unread = most + 1
    each = min(max(size + 1, 1 << 12), MIB)  # a megabyte for each small file takes time
    while unread > 0 and (piece := os.read(file, min(unread, each))):
        parts.append(piece)
        unread -= len(piece)
    if unread <= 0:  # it grew meanwhile
        raise _too_large(path, most + 1, most)
    return b"".join(parts)


def sha256(folder: Path, name: str, most: int = sys.maxsize) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits. Raises OSError as `read` does."""
    digest, read = hashlib.sha256(), 0
    with opened(folder, name) as file:
        size = os.fstat(file).st_size
        while size <= most and (part := os.read(file, _PIECE)):
            digest.update(part)
            size = max(size, read := read + len(part))  # it may grow meanwhile
    if size > most:
        raise _too_large((folder, name), size, most)
    return digest.hexdigest()


def size_of(folder: Path, name: str) -> int:
    """Return how many bytes a file has. Raises OSError as `read` does."""
    with opened(folder, name) as file:
        return os.fstat(file).st_size


def holds(folder: Path, name: str) -> bool:
    """Whether there is a file of this name below a folder, behind no link."""
    with contextlib.suppress(OSError):
        os.close(_opened(folder, name))
        return True
    return False


@contextlib.contextmanager
def opened(folder: Path, name: str) -> Iterator[int]:
    """Give a descriptor to read a file by. Raises OSError as `read` does."""
    file = _opened(folder, name)
    try:
        yield file
    finally:
        os.close(file)


def _opened(folder: Path, name: str) -> int:
    """Open a file without a context: a result of thousands of trials has 100,000 files."""
    parent, last = _above(folder, name)
    try:
        return _file(parent, last)
    except OSError as error:
        raise _named(error, folder, name) from error
    finally:
        os.close(parent)


@contextlib.contextmanager
def stream(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Give a file to read from. Raises OSError as `read` does."""
    with opened(folder, name) as file, os.fdopen(file, "rb", closefd=False) as reader:
        yield reader


def write(
    folder: Path, name: str, content: Content, *, lasting: Lasting = True, mode: int = 0o666
) -> None:
    """Write a file below a folder: it is complete, or as it was before, whenever we end.

    A `lasting` one is on the disk on return; the name of one whose `content` is lasts as soon as
    that of the next file in its folder. A link in its place is replaced, and never followed.
    Raises OSError, which names it: a disk that is full names nothing.
    """
    with _parent(folder, name) as (parent, last):
        half = f"{HALF}{os.urandom(8).hex()}"
        file = os.open(half, _NEW, mode, dir_fd=parent)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.writelines([content] if isinstance(content, bytes) else content)
                stream.flush()
                if lasting:
                    os.fsync(stream.fileno())
            os.rename(half, last, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(half, dir_fd=parent)
            raise
        if lasting is True:
            os.fsync(parent)


def make(folder: Path, name: str, mode: int = 0o755, *, anew: bool = False) -> None:
    """Make the folder of a name with a mode, and those above it below the given one.

    Whatever the umask is, nobody else may write there: a trial runs programs in such a folder.
    Raises OSError where one of them is no folder or a link; `anew`, also where it is there.
    """
    made = steps(name)
    for number in range(1, len(made) + 1):
        part = "/".join(made[:number])
        with _parent(folder, part) as (parent, last):
            try:
                os.mkdir(last, mode if number == len(made) else 0o755, dir_fd=parent)
            except FileExistsError:
                if anew and number == len(made):
                    raise
                os.close(_folder(parent, last))


def files(folder: Path, wanted: Callable[[str], bool] = bool) -> Iterator[str]:
    """Yield the names of all files and links below a folder that is no link; follow no link.

    A name in the folder itself that is not `wanted` is left out, with all that is below it.
    """
    root = os.open(folder, _FOLDER)
    try:
        for folder_path, folders, names, _ in os.fwalk(".", dir_fd=root, follow_symlinks=False):
            prefix = "" if folder_path == "." else f"{folder_path.removeprefix('./')}/"
            if not prefix:
                folders[:] = filter(wanted, folders)
            # A link to a folder is among the folders.
            links = [child for child in folders if (folder / folder_path / child).is_symlink()]
            folders[:] = sorted(set(folders).difference(links))
            for name in sorted([*names, *links]):
                if prefix or wanted(name):
                    yield prefix + name
    finally:
        os.close(root)


def remove(folder: Path, name: str) -> None:
    """Remove a file, and the folders above it that are empty then. Raises OSError."""
    with _parent(folder, name) as (parent, last):
        os.unlink(last, dir_fd=parent)
    remove_empty(folder, name.rpartition("/")[0])


def remove_empty(folder: Path, name: str) -> None:
    """Remove a folder if nothing is in it, and those above it likewise."""
    while name:
        try:
            with _parent(folder, name) as (parent, last):
                os.rmdir(last, dir_fd=parent)
        except OSError:  # something is in it
            return
        name = name.rpartition("/")[0]


@contextlib.contextmanager
def _parent(folder: Path, name: str) -> Iterator[tuple[int, str]]:
    """Give a descriptor of the folder that a name stands in, and its last part.

    An error within names the whole path.
    """
    parent, last = _above(folder, name)
    try:
        yield parent, last
    except OSError as error:
        raise _named(error, folder, name) from error
    finally:
        os.close(parent)


def _above(folder: Path, name: str) -> tuple[int, str]:
    """Open the folder that a name stands in. Return its descriptor, and the name's last part."""
    *parents, last = steps(name)
    parent, number = -1, 0
    try:
        parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for number, part in enumerate(parents, 1):  # noqa: B007 - how far it came
            below = _folder(parent, part)
            os.close(parent)
            parent = below
    except OSError as error:
        if parent >= 0:
            os.close(parent)
        raise _named(error, folder, "/".join(parents[:number])) from error
    return parent, last


def _folder(parent: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except NotADirectoryError:  # what Linux says of a link, too
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, _LINK) from None
        raise


def _file(parent: int, name: str) -> int:
    try:
        file = os.open(name, _READ, dir_fd=parent)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, _LINK) from None
        raise
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    raise OSError(errno.EINVAL, _NO_FILE)


def _named(error: OSError, folder: Path, name: str) -> OSError:
    path = folder / name if name else folder
    return OSError(error.errno, error.strerror or str(error), str(path))


def _too_large(path: tuple[Path | str, ...], size: int, most: int) -> OSError:
    return OSError(errno.EFBIG, too_many(size, most, "bytes"), str(Path(*path)))
