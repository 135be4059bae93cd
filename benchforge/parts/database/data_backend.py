"""What backends have in common that hold data: filled with a dataset, or there already."""

import ipaddress
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, field_validator, model_validator

from benchforge.parts.command import Finished
from benchforge.parts.content import text_of
from benchforge.parts.database import dataset as datasets
from benchforge.parts.database.dataset import Dataset
from benchforge.parts.fillable import WrongOption
from benchforge.parts.part import Backend
from benchforge.parts.site import Site


class DataBackend(Backend, ABC):
    """A private service with the data of a dataset, the same for each trial; or `url`."""

    of_existing: ClassVar[frozenset[str]] = frozenset({"existing", "allow_remote", "ready_within"})
    "The options that apply only to a backend that runs already."

    dataset: str | None = None
    """Name of a built-in dataset, or path of a folder with a dataset.toml ('./data'). Default: no \
data."""
    existing: str | None = Field(default=None, alias="url")
    "URL of a backend that runs already. benchforge does not start, fill or check it."
    allow_remote: bool = False
    "Permission to use a backend on another machine. Put load only on machines that are yours."

    @field_validator("dataset")
    @classmethod
    def _dataset_fits(cls, name: str | None) -> str | None:
        return None if name is None else datasets.valid_name(name, cls.name)

    @model_validator(mode="after")
    def _either_ours_or_existing(self) -> Self:
        if self.existing is None:
            return self
        ours = self.model_fields_set - self.of_existing
        if ours:
            message = "with 'url' nothing is started"
            hint = f"leave out {', '.join(sorted(ours))}"
            raise WrongOption(message, *sorted(ours), "url", hint=hint)
        far = [host for host in self.hosts(self.existing) if not _is_here(host)]
        if far and not self.allow_remote:
            hint = "say allow_remote = true if the service is yours"
            message = f"{', '.join(far)} is not this machine"
            raise WrongOption(message, "url", "allow_remote", hint=hint)
        return self

    @abstractmethod
    def hosts(self, url: str) -> Iterable[str]:
        """Return the hosts in the URL of an existing one; a path or "" is this machine."""

    def outside(self) -> bool:
        """Whether it is one that already runs."""
        return self.existing is not None

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the data. Raises BenchforgeError when it cannot be read."""
        if self.dataset is None:
            return ""
        return datasets.digest(datasets.folder_of(self.dataset, suite_folder), self.name)

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        """Return the folder of a dataset of the user's own."""
        own = self.dataset is not None and "/" in self.dataset
        return (datasets.folder_of(str(self.dataset), suite_folder),) if own else ()

    def template_key(self, site: Site) -> str:
        """Return a digest of the data. Raises BenchforgeError when it cannot be read."""
        return self.fingerprint(site.suite_folder)

    def data(self, site: Site) -> tuple[Path, Dataset] | None:
        """Return the dataset and its folder; None without one."""
        if self.dataset is None:
            return None
        folder = datasets.folder_of(self.dataset, site.suite_folder)
        return folder, datasets.read(folder, self.name)


def _is_here(host: str) -> bool:
    if host in {"", "localhost"} or host.startswith(("/", "@")):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name; what it stands for may change
        return False


def last_word(log: Path) -> Callable[[Finished], str | None]:
    """Return a judge that tells a failure by the last line of the service's own log."""

    def judge(finished: Finished) -> str | None:
        if finished.code == 0:
            return None
        lines = text_of(log).splitlines() if log.is_file() else []
        return next(filter(str.strip, reversed(lines)), f"exit code {finished.code}")

    return judge
