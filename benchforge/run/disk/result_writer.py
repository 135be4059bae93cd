"""Keeping results: whole files that are on the disk, or none at all."""

import contextlib
import errno
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel

from benchforge.errors import CannotKeep, Unusable
from benchforge.model.folder import CEILING, CEILINGS, HEADER, SITTINGS
from benchforge.model.sitting import Sitting
from benchforge.run.hold import hold
from benchforge.run.scratch import BESIDE, claimed
from benchforge.run.space import enough, full

_FREE = "free some space; "
_REMOVED = "the result was removed while it was measured; begin it anew"
_NONE: Mapping[str, BaseModel | str] = MappingProxyType({})


class Keep:
    """A result's folder. Every method raises CannotKeep when the folder cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def goes_on(self) -> str:
        """The command that measures what is missing."""
        return f"benchforge run --resume {shlex.quote(str(self.folder))}"

    @property
    def _way_out(self) -> str:
        return f"what was kept is whole, and this goes on: {self.goes_on}"

    def _cannot(self, path: Path, error: OSError) -> CannotKeep:
        hint = f"{_FREE}{self._way_out}" if full(error) else self._way_out
        return CannotKeep(f"{path}: {error.strerror}", hint)

    @classmethod
    def new(
        cls, parent: Path, name: str, now: datetime, files: Mapping[str, BaseModel | str] = _NONE
    ) -> "Keep":
        """Make a folder named after the suite and the time, in UTC; with files, by their places.

        It is there with all of them or not at all, whenever we end.
        """
        wanted = parent / f"{name}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        hint = "choose another folder with -o"
        try:
            parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise CannotKeep(f"{parent}: not a folder", "choose one with -o") from None
        except OSError as error:
            raise CannotKeep(f"{error.filename or parent}: {error.strerror}", hint) from error
        try:
            with claimed(parent, BESIDE) as half:
                try:
                    (half / "trials").mkdir()
                    for place, content in files.items():
                        (half / place).parent.mkdir(exist_ok=True)
                        whole(half / place, content)
                    return cls(_named(half, wanted))
                finally:
                    shutil.rmtree(half, ignore_errors=True)
        except OSError as error:
            raise CannotKeep(f"{parent}: {error.strerror}", hint) from error

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from writing here, and from removing it, as long as we live.

        Raises Unusable where another does, or where there is no folder; CannotKeep where it cannot
        be opened.
        """
        try:
            held = hold(self.folder.resolve())
        except (FileNotFoundError, NotADirectoryError) as error:
            hint = "name the folder of a result"
            raise Unusable(f"{self.folder}: {error.strerror}", hint) from error
        except OSError as error:
            raise self._cannot(self.folder, error) from error
        if held is None:
            message = f"{self.folder}: another benchforge is writing it"
            raise Unusable(message, "wait for it, or stop it")
        try:
            yield
        finally:
            os.close(held)

    def still_there(self) -> None:
        """Raise CannotKeep where somebody removed the header: what is beside it cannot be read."""
        if not (self.folder / HEADER).exists():
            raise CannotKeep(f"{self.folder / HEADER}: No such file or directory", _REMOVED)

    def room(self) -> None:
        """Raise CannotKeep where a disk is too full for another trial."""
        for folder in (self.folder, Path(tempfile.gettempdir())):
            enough(folder, f"{_FREE}{self._way_out}")

    def place(self, number: int) -> Path:
        """Return the folder of a trial, whether it is there or not."""
        return self.folder / "trials" / f"{number:04d}"

    def trial_folder(self, number: int) -> Path:
        """Make the folder of a trial."""
        folder = self.place(number)
        try:
            folder.mkdir()
        except OSError as error:
            raise self._cannot(folder, error) from error
        return folder

    def ceiling_folder(self, number: int) -> Path:
        """Make the folder of a load tool's measurement against the null server."""
        self._made(CEILINGS)
        return self._made(f"{CEILINGS}/{number:04d}")

    def swept(self) -> None:
        """Remove what an end kept from being finished: a trial has its trial.json.

        Who copies a result may leave empty folders behind: that of the trials is made anew.
        """
        self._made("trials")
        for parent, last in (("trials", "trial.json"), (CEILINGS, CEILING)):
            for folder in self.folder.glob(f"{parent}/*"):
                if folder.name.isdigit() and not (folder / last).exists():
                    try:
                        shutil.rmtree(folder)
                    except OSError as error:
                        raise self._cannot(folder, error) from error

    def sitting(self, sitting: Sitting) -> Path:
        """Write what a later sitting measures with, and on."""
        folder = self._made(SITTINGS)
        return self.write(folder / f"{sitting.number:04d}.json", sitting)

    def _made(self, name: str) -> Path:
        folder = self.folder / name
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise self._cannot(folder, error) from error
        return folder

    def write(self, path: Path, content: BaseModel | str | bytes) -> Path:
        """Write a file whole: a temporary one, on the disk, renamed, and the folder on the disk."""
        try:
            whole(path, content)
        except OSError as error:
            raise self._cannot(path, error) from error
        return path


def _named(half: Path, wanted: Path) -> Path:
    """Give a folder its name, or that with a number where there is one already."""
    usual = (half / "trials").stat().st_mode  # of what is made here without saying how
    folder, number = wanted, 1
    while os.path.lexists(folder) or not _renamed(half, folder):
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    folder.chmod(stat.S_IMODE(usual))  # and no scratch any more
    return folder


def _renamed(half: Path, folder: Path) -> bool:
    """Whether a folder has a new name now; not where another was faster to take it."""
    try:
        half.rename(folder)
    except OSError as error:
        if error.errno not in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise
        return False
    return True


def whole(path: Path, content: BaseModel | str | bytes) -> None:
    """Write a file so that it is there whole, or as it was before, whenever we end.

    Raises OSError, which names it: a disk that is full names nothing.
    """
    if isinstance(content, BaseModel):
        content = content.model_dump_json(indent=1, by_alias=True) + "\n"
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        finally:
            temporary.unlink(missing_ok=True)
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
