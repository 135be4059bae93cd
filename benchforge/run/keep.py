"""Keeping results: whole files that are on the disk, or none at all."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from benchforge.errors import CannotKeep

_WAY_OUT = "free some space or choose another folder with -o; what was kept before is whole"


class Keep:
    """A result's folder. Every method raises CannotKeep when the folder cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

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

    def trial_folder(self, number: int) -> Path:
        """Make the folder of a trial, without what an interrupted one may have left there."""
        folder = self.folder / "trials" / f"{number:04d}"
        try:
            if folder.exists():
                shutil.rmtree(folder)
            folder.mkdir()
        except OSError as error:
            raise CannotKeep(f"{folder}: {error.strerror}", _WAY_OUT) from error
        return folder

    def lock(self, label: str, lock: str) -> Path:
        """Write the pinned packages of a runtime."""
        folder = self.folder / "runtimes"
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise CannotKeep(f"{folder}: {error.strerror}", _WAY_OUT) from error
        return self.write(folder / f"{label}.txt", lock)

    def write(self, path: Path, content: BaseModel | str | bytes) -> Path:
        """Write a file whole: a temporary one, on the disk, renamed, and the folder on the disk."""
        if isinstance(content, BaseModel):
            content = content.model_dump_json(indent=1, by_alias=True) + "\n"
        data = content.encode() if isinstance(content, str) else content
        temporary = path.with_name(f".{path.name}.tmp")
        try:
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
        except OSError as error:
            raise CannotKeep(f"{path}: {error.strerror}", _WAY_OUT) from error
        return path
