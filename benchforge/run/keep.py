"""Keeping results: whole files that are on the disk, or none at all."""

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from benchforge.errors import CannotKeep, Unusable
from benchforge.model.folder import CEILING, CEILINGS, HEADER, SITTINGS
from benchforge.model.sitting import Sitting
from benchforge.run.hold import hold
from benchforge.run.space import enough, full

_FREE = "free some space; "
_REMOVED = "the result was removed while it was measured; begin it anew"


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
    def new(cls, parent: Path, name: str, now: datetime) -> "Keep":
        """Make a folder named after the suite and the time, in UTC."""
        stem = f"{name}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        number = 1
        while True:
            folder = parent / (stem if number == 1 else f"{stem}-{number}")
            try:
                folder.mkdir(parents=True)
                (folder / "trials").mkdir()
            except FileExistsError:
                if not folder.is_dir():
                    raise CannotKeep(f"{parent}: not a folder", "choose one with -o") from None
                number += 1
            except OSError as error:
                hint = "choose another folder with -o"
                raise CannotKeep(f"{error.filename or folder}: {error.strerror}", hint) from error
            else:
                return cls(folder)

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

    def lock(self, label: str, lock: str) -> Path:
        """Write the pinned packages of a runtime."""
        return self.write(self._made("runtimes") / f"{label}.txt", lock)

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


def whole(path: Path, content: BaseModel | str | bytes) -> None:
    """Write a file so that it is there whole, or as it was before, whenever we end.

    Raises OSError.
    """
    if isinstance(content, BaseModel):
        content = content.model_dump_json(indent=1, by_alias=True) + "\n"
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
