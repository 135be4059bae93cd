"""A file that an option names."""

from pathlib import Path

from benchforge.errors import CannotKeep
from benchforge.run.disk.result_writer import whole


def write_file(file: Path, content: str, hint: str = "choose another file") -> None:
    """Write a file, whole or not at all; a pipe or a device such as /dev/stdout stays what it is.

    Raises CannotKeep where it cannot be written.
    """
    try:
        if file.exists() and not file.is_file():
            file.write_text(content, encoding="utf-8")
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            whole(file.parent, file.name, content)
    except OSError as error:
        raise CannotKeep(f"{error.filename or file}: {error.strerror}", hint) from error
