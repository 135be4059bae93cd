"""Keeping results: whole files that are on the disk, or none at all."""

import contextlib
import errno
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from glob import iglob
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel

from benchforge.errors import CannotKeep, Unusable
from benchforge.model.files import folder as paths
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.session import Session
from benchforge.run.disk.hide import PRIVATE
from benchforge.run.disk.manifest import manifest_of
from benchforge.run.disk.scratch import BESIDE, claimed, emptied, hold, uninterrupted
from benchforge.run.disk.space import enough, full
from benchforge.text import door
from benchforge.text.program import program

_FREE = "free some space; "
_REMOVED = "the result was removed during the run; start a new run"
_NIL: Mapping[str, BaseModel | str] = MappingProxyType({})


class ResultWriter:
    """A result's folder. Every method raises CannotKeep when the folder cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def goes_on(self) -> str:
        """The command that measures what is missing."""
        return f"{program()} run --resume {shlex.quote(str(self.folder))}"

    @property
    def way_out(self) -> str:
        """Whether finished trials were kept, and the command that measures what is missing."""
        any_kept = any(iglob(f"{paths.TRIALS}/*/{paths.TRIAL}", root_dir=self.folder))  # noqa: PTH207 - never raises
        return f"{'finished trials were kept; ' * any_kept}to continue: {self.goes_on}"

    @contextlib.contextmanager
    def _writes(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            first = _FREE if full(error) else "make it writable; "
            raise CannotKeep(f"{path}: {error.strerror}", f"{first}{self.way_out}") from error

    @classmethod
    def new(
        cls, parent: Path, name: str, created: datetime, files: Mapping[str, BaseModel | str] = _NIL
    ) -> "ResultWriter":
        """Make a folder named after the suite and the time, in UTC; with files, by their places.

        It is there with all of them or not at all, whenever we end.
        """
        wanted = parent / f"{name}-{created.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        hint = "choose another folder with -o"
        try:
            parent.mkdir(0o755, parents=True, exist_ok=True)
        except FileExistsError:
            raise CannotKeep(f"{parent}: not a folder", "choose one with -o") from None
        except OSError as error:
            raise CannotKeep(f"{error.filename or parent}: {error.strerror}", hint) from error
        entered(parent)
        try:
            with uninterrupted(), claimed(parent, BESIDE) as half:
                try:
                    door.make(half, paths.TRIALS)
                    for name_, content in files.items():
                        if "/" in name_:
                            door.make(half, name_.rpartition("/")[0])
                        whole(half, name_, content)
                    return cls(_named(half, wanted))
                finally:
                    shutil.rmtree(half, ignore_errors=True)
        except OSError as error:
            raise CannotKeep(f"{parent}: {error.strerror}", hint) from error

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from writing or removing the result, as long as we live.

        Raises Unusable where another holds it or it is missing, CannotKeep where it does not open.
        """
        with self._writes(self.folder):
            try:
                held = hold(entered(self.folder))
            except (FileNotFoundError, NotADirectoryError) as error:
                hint = "name the folder of a result"
                raise Unusable(f"{self.folder}: {error.strerror}", hint) from error
        if held is None:
            message = f"{self.folder}: another benchforge is writing it"
            raise Unusable(message, "wait for it, or stop it")
        try:
            yield
        finally:
            os.close(held)

    def still_there(self) -> None:
        """Raise CannotKeep where somebody removed the header: what is beside it cannot be read."""
        if not (self.folder / paths.HEADER).exists():
            raise CannotKeep(f"{self.folder / paths.HEADER}: No such file or directory", _REMOVED)

    def room(self) -> None:
        """Raise CannotKeep where a disk is too full for another trial."""
        hint = f"{_FREE}{self.way_out}"
        for folder in (self.folder, Path(tempfile.gettempdir())):
            enough(folder, hint)

    def place(self, number: int) -> Path:
        """Return the folder of a trial, whether it is there or not."""
        return self.folder / paths.TRIALS / f"{number:04d}"

    def trial_folder(self, number: int) -> Path:
        """Make the folder of a trial, for nobody but us until it is `opened`."""
        return self._made(f"{paths.TRIALS}/{number:04d}", PRIVATE, anew=True)

    def opened(self, folder: Path) -> None:
        """Let those look into a folder who may look into the one above: its secrets are hidden."""
        with self._writes(folder):
            folder.chmod(stat.S_IMODE(folder.parent.stat().st_mode))

    def ceiling_folder(self, number: int) -> Path:
        """Make the folder of a load tool's measurement against the null server, as a trial's."""
        self._made(paths.CEILINGS)
        return self._made(f"{paths.CEILINGS}/{number:04d}", PRIVATE)

    def swept(self, also: Collection[int] = ()) -> None:
        """Remove trials that have no trial.json, and those whose numbers are in `also`.

        A copied result may lack its folder of trials: it is made anew.
        """
        self._made(paths.TRIALS)
        for parent, last in ((paths.TRIALS, paths.TRIAL), (paths.CEILINGS, paths.CEILING)):
            if (self.folder / parent).is_symlink():
                continue  # what is there is no part of the result
            for folder in self.folder.glob(f"{parent}/*"):
                is_trial = folder.name.isdigit() and not folder.is_symlink()
                unfinished = not (folder / last).exists()
                half = parent == paths.TRIALS and is_trial and int(folder.name) in also
                if is_trial and (unfinished or half):
                    with self._writes(folder):
                        emptied(folder)
                        folder.rmdir()

    def session(self, session: Session) -> Path:
        """Write what a later session measures with, and on."""
        return self.write(self._made(paths.SESSIONS) / f"{session.number:04d}.json", session)

    def manifest(self) -> Path:
        """Write which files the result has now that its run ended."""
        with self._writes(self.folder):
            return self.write(self.folder / paths.MANIFEST, manifest_of(self.folder))

    def _made(self, name: str, mode: int = 0o755, *, anew: bool = False) -> Path:
        folder = self.folder / name
        with self._writes(folder):
            door.make(self.folder, name, mode, anew=anew)
        return folder

    def write(
        self, path: Path, content: BaseModel | str | bytes, lasting: door.Lasting = True
    ) -> Path:
        """Write a file of the result whole: another one, on the disk, renamed, its folder too."""
        with self._writes(path):
            whole(self.folder, str(path.relative_to(self.folder)), content, lasting)
        return path


def entered(folder: Path) -> Path:
    """Return a folder's path from the root, by which each process of a trial enters it.

    Raises CannotKeep where a folder on the way is closed to us.
    """
    path = folder.resolve()
    try:
        path.stat()
    except PermissionError as error:
        parents = reversed(path.parents)
        closed = next((parent for parent in parents if not os.access(parent, os.X_OK)), path)
        hint = "use another folder, or let this user enter that one"
        raise CannotKeep(f"{path}: this user cannot enter {closed}", hint) from error
    except OSError:  # who opens it says what is wrong
        pass
    return path


def _named(half: Path, wanted: Path) -> Path:
    """Give a folder its name, or that with a number where there is one already."""
    usual = (half / paths.TRIALS).stat().st_mode  # of what is made here without saying how
    folder, number = wanted, 1
    while True:
        try:
            if not os.path.lexists(folder):
                half.rename(folder)
                break
        except OSError as error:
            if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
                raise  # else another was faster to take the name
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    folder.chmod(stat.S_IMODE(usual))  # and no scratch any more
    return folder


def whole(
    folder: Path, name: str, content: BaseModel | str | bytes, lasting: door.Lasting = True
) -> None:
    """Write a file below a folder: it is whole, or as before. Raises OSError, which names it."""
    text = content.encode() if isinstance(content, str) else content
    pieces = as_written(text) if isinstance(text, BaseModel) else text
    door.write(folder, name, pieces, lasting=lasting)


def as_written(model: BaseModel) -> Iterator[bytes]:
    """Yield the pieces of a model's file: of a summary, which may be large, metric by metric."""
    yield from _split(model, ("cases", "metrics") if isinstance(model, Summary) else (), b"\n")
    yield b"\n"


def _split(model: BaseModel, names: tuple[str, ...], line_end: bytes) -> Iterator[bytes]:
    """Yield a model as JSON, each member of the first of the named arrays by itself.

    `line_end` replaces each line end, to indent: no text has one.
    """
    members = getattr(model, names[0]) if names else ()
    frame = model.model_copy(update={names[0]: ()}) if members else model
    key = b'\n "%s": [' % names[0].encode() if members else b"\0"
    text = frame.__pydantic_serializer__.to_json(frame, indent=1, by_alias=True)
    earlier, begin, later = text.partition(key)
    yield (earlier + begin).replace(b"\n", line_end)
    for number, member in enumerate(members):
        yield (b"," if number else b"") + line_end + b"  "
        yield from _split(member, names[1:], line_end + b"  ")
    if members:
        yield line_end + b" " + later.replace(b"\n", line_end)
