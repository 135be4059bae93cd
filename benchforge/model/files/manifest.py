"""The manifest of a result: its files, with the digest of each."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from benchforge.model.files.folder import CEILINGS, HEADER, RUNTIMES, SESSIONS, TRIALS
from benchforge.model.values.bounds import Below
from benchforge.model.values.frozen import Frozen

_MEASURED = {HEADER, TRIALS, CEILINGS, SESSIONS, RUNTIMES}


class Manifest(Frozen):
    """Manifest of a result. It is written when a run ends, and again when a resumed run ends."""

    format: Literal[2] = 2
    "Version of the file format."
    kind: Literal["manifest"] = "manifest"
    "Kind of this file."
    trials: tuple[PositiveInt, ...]
    "Numbers of the trials that the manifest covers, repeated attempts included."
    files: dict[Below, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]]
    "SHA-256 of each file of the result, by its path in the result's folder."

    @property
    def measured(self) -> dict[str, str]:
        """Digests of the files that no command forms again from others."""
        return {name: digest for name, digest in self.files.items() if is_measured(name)}


def is_measured(name: str) -> bool:
    """Return True if a file was measured, and not formed from other files of the result."""
    return name.partition("/")[0] in _MEASURED


def place_of(name: str) -> str:
    """Return the folder of the trial or ceiling that a file is in; empty for other files."""
    parent, _, rest = name.partition("/")
    number, inside, _ = rest.partition("/")
    return f"{parent}/{number}" if inside and parent in {TRIALS, CEILINGS} else ""
