"""A dataset: the files that fill a backend of one kind, and how many rows they make."""

import difflib
import hashlib
import re
import tomllib
from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError, model_validator

from benchforge.errors import BenchforgeError
from benchforge.parts.fillable import WrongOption

URI = r"[A-Za-z][\w.+-]*:[^\s<>\"'{}|\\^`;]+"
"The pattern of URIs that need no escaping in SPARQL and SQL."

_BUILT_IN = Path(__file__).parent / "datasets"


class _Kind(NamedTuple):
    """What datasets of one kind of backend look like."""

    database: str
    "The default of `database`."
    names: str
    "The pattern of names in [rows]."
    files: tuple[str, ...]
    "The endings of files that can be loaded."


_KINDS = {
    "postgresql": _Kind("benchmarks", r".+", (".sql",)),
    "redis": _Kind("0", r"\d+", (".redis",)),
    "virtuoso": _Kind("http://graph-uri", URI, (".ttl", ".sparql", ".sql")),
}


class Dataset(BaseModel):
    """What a dataset.toml says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    backend: Literal["postgresql", "redis", "virtuoso"] = "postgresql"
    "The kind of backend that the dataset fills."
    database: str = ""
    "Target of the data: a database of PostgreSQL, a number of Redis, a graph of Virtuoso."
    description: str = ""
    files: list[str]
    "Files to load into the empty database, in this order."
    rows: dict[str, NonNegativeInt]
    """Expected number of rows of each table after loading: keys of each database of Redis, \
triples of each graph."""

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        kind = _KINDS[self.backend]
        for name in (self.into, *self.rows):
            if not re.fullmatch(kind.names, name, re.ASCII):
                form = "a number of a database" if self.backend == "redis" else "the URI of a graph"
                raise ValueError(f"{name!r} is not {form}")
        for name in self.files:
            if not name.endswith(kind.files):
                ends = ", ".join(kind.files)
                raise ValueError(f"{name!r}: {self.backend} loads files that end in {ends}")
        return self

    @property
    def into(self) -> str:
        """Target of the data: a database, a number or a graph."""
        return self.database or _KINDS[self.backend].database


def valid_name(name: str, backend: str) -> str:
    """Return a dataset's name, or a folder with a slash. Raises WrongOption for another name."""
    if "/" in name:
        return name
    folders = sorted(file.parent for file in _BUILT_IN.glob("*/dataset.toml"))
    fitting = [folder.name for folder in folders if _parsed(folder).backend == backend]
    if name in fitting:
        return name
    near = difflib.get_close_matches(name, fitting, 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    problem = f"no dataset named {name!r}"
    if (_BUILT_IN / name / "dataset.toml").is_file():
        problem = f"dataset {name!r} is for {_parsed(_BUILT_IN / name).backend}"
    folder = f"a folder of your own is written with a slash: './{name}'"
    hint = f"{guess}built in for {backend}: {', '.join(fitting)}; {folder}"
    raise WrongOption(problem, hint=hint)


def folder_of(name: str, suite_folder: Path) -> Path:
    """Return where a dataset lies: a built-in one, or a folder relative to the suite's."""
    return suite_folder / name if "/" in name else _BUILT_IN / name


def read(folder: Path, backend: str) -> Dataset:
    """Read the folder of a dataset for a backend. Raises BenchforgeError: what is wrong with it."""
    file = folder / "dataset.toml"
    try:
        dataset = _parsed(folder)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BenchforgeError(f"{file}: {reason}", _WANTED) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"{step}: " for step in first["loc"])
        raise BenchforgeError(f"{file}: {where}{first['msg']}", _WANTED) from error
    if dataset.backend != backend:
        message = f"{file}: the dataset is for {dataset.backend}, not for {backend}"
        hint = f'name another one, or say backend = "{backend}" in it if that is what its files are'
        raise BenchforgeError(message, hint)
    for name in dataset.files:
        if not (folder / name).is_file():
            raise BenchforgeError(f"{file}: files: there is no {folder / name}", _WANTED)
    return dataset


def digest(folder: Path, backend: str) -> str:
    """Return the digest of a dataset's content. Raises BenchforgeError as `read` does."""
    total = hashlib.sha256()
    for name in ("dataset.toml", *read(folder, backend).files):
        content = (folder / name).read_bytes()
        total.update(f"{name} {len(content)} ".encode() + content)
    return total.hexdigest()


def _parsed(folder: Path) -> Dataset:
    return Dataset.model_validate(tomllib.loads((folder / "dataset.toml").read_text()))


_WANTED = (
    'a dataset.toml has name, backend = "postgresql", "redis" or "virtuoso", '
    'files = ["schema.sql", ...] and [rows] with table = number'
)
