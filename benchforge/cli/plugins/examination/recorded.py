"""What a tool once printed: a file, or a folder with all that one run of it left."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, JsonValue, ValidationError

from benchforge.cli.plugins.examination.inputs import ROOT
from benchforge.errors import Unusable
from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Reading
from benchforge.model.values.frozen import Frozen
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.parts.site import Output, Target

FACTS, OUT, ERR = "recording.json", "stdout.txt", "stderr.txt"


class _Facts(Frozen):
    options: dict[str, JsonValue] = Field(default_factory=dict)
    exit_code: int = 0
    path: str = "/"


@dataclass(frozen=True)
class Recording:
    """What one run left: files by name, stdout.txt and stderr.txt among them."""

    name: str
    options: Mapping[str, JsonValue]
    exit_code: int
    path: str
    "Path of the request."
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, place: Path) -> Self:
        """Read a recording: a file holds what was printed, and a folder all that a run left.

        That is stdout.txt, stderr.txt, the files that the tool wrote, and recording.json with
        `options`, `exit_code` and `path`, each of which may be missing but the first.
        Raises Unusable when it cannot be read.
        """
        try:
            if not place.is_dir():
                return cls(str(place), {}, 0, "/", {OUT: place.read_bytes()})
            files = {one.name: one.read_bytes() for one in sorted(place.iterdir()) if one.is_file()}
            facts = _Facts.model_validate(
                {key: value for key, value in json.loads(files.get(FACTS, b"{}")).items()
                 if key in _Facts.model_fields}
            )  # fmt: skip
        except OSError as error:
            raise Unusable(f"{error.filename or place}: {error.strerror}") from None
        except (ValueError, AttributeError, ValidationError) as error:
            first = str(error).splitlines()[0]
            hint = "it holds JSON: options, exit_code and path"
            raise Unusable(f"{place / FACTS}: {first}", hint) from None
        if OUT not in files:
            hint = "the folder of a recording contains it, and other files of the tool"
            raise Unusable(f"{place}: no {OUT}", hint)
        return cls(str(place), facts.options, facts.exit_code, facts.path, files)

    def read(self, part: Driver, folder: Path) -> Reading:
        """Return the reading of a part. The files are written to `folder`.

        Raises what the part's own `read` raises, and TypeError where it returns no reading.
        """
        for name in (OUT, ERR):
            (folder / name).write_bytes(b"")
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        done = Finished(self.exit_code, folder / OUT, folder / ERR, 1.0, 0.0, 0.0)
        # The same for two readings, wherever they are read.
        target = Target(ROOT + self.path, Request(path=self.path), folder, {}, Path("/bin/python"))
        reading: object = part.read(Output(target, (done,)))
        if not isinstance(reading, Reading):
            raise TypeError(f"it returns {type(reading).__name__}, and no Reading")
        return reading
