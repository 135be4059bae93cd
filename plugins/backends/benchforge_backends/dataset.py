"""A dataset: the SQL that fills a database, and how many rows it makes."""

import difflib
import hashlib
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, NonNegativeInt, ValidationError

from benchforge.plugin import BenchforgeError

_BUILT_IN = Path(__file__).parent / "datasets"


class Dataset(BaseModel):
    """What a dataset.toml says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    database: str = "benchmarks"
    description: str = ""
    files: list[str]
    "Loaded in this order into the empty database."
    rows: dict[str, NonNegativeInt]
    "How many each table must have then."


def built_in() -> list[str]:
    """Return the names of the datasets that come with the plugin."""
    return sorted(file.parent.name for file in _BUILT_IN.glob("*/dataset.toml"))


def folder_of(name: str, suite_folder: Path) -> Path:
    """Return where a dataset lies: a built-in one, or a folder relative to the suite's."""
    return suite_folder / name if "/" in name else _BUILT_IN / name


def read(folder: Path) -> Dataset:
    """Read a dataset's folder. Raises BenchforgeError, which says what is wrong with it."""
    file = folder / "dataset.toml"
    try:
        dataset = Dataset.model_validate(tomllib.loads(file.read_text()))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BenchforgeError(f"{file}: {reason}", _WANTED) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BenchforgeError(f"{file}: {where}: {first['msg']}", _WANTED) from error
    for name in dataset.files:
        if not (folder / name).is_file():
            raise BenchforgeError(f"{file}: files: there is no {folder / name}", _WANTED)
    return dataset


def digest(folder: Path) -> str:
    """Return what the content of a dataset is told by. Raises BenchforgeError as `read` does."""
    total = hashlib.sha256()
    for name in ("dataset.toml", *read(folder).files):
        content = (folder / name).read_bytes()
        total.update(f"{name} {len(content)} ".encode() + content)
    return total.hexdigest()


def _known(name: str) -> str:
    if "/" in name or name in built_in():
        return name
    near = difflib.get_close_matches(name, built_in(), 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(
        f"no dataset named {name!r}; {guess}built in: {', '.join(built_in())}; "
        f"a folder of your own is written with a slash: './{name}'"
    )


DatasetName = Annotated[str, AfterValidator(_known)]
"The name of a built-in dataset, or a folder with a dataset.toml, written with a slash."

_WANTED = 'a dataset.toml has name, files = ["schema.sql", ...] and [rows] with table = number'
