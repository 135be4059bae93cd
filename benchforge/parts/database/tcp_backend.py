"""Backends with data, and those that apps reach at a host name, a port and with a password."""

import base64
import hashlib
import hmac
import ipaddress
import os
import re
from abc import ABC
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from benchforge.parts.command import Finished
from benchforge.parts.content import text_of
from benchforge.parts.database import dataset as datasets
from benchforge.parts.database.dataset import Dataset
from benchforge.parts.fillable import WrongOption
from benchforge.parts.part import Backend
from benchforge.parts.site import Site

_WORD = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_WORD}(?:\.{_WORD})*")
_LONGEST_NAME = 253
_OVER_TCP = ("port", "names", "password")

_SECRET = os.urandom(32)
_ITERATIONS = 4096  # PostgreSQL's own default


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
        if set_fields := sorted(self.model_fields_set - self.of_existing):
            hint = f"leave out {', '.join(set_fields)}"
            raise WrongOption("with 'url' nothing is started", *set_fields, "url", hint=hint)
        far = [host for host in self.hosts(self.existing) if not _is_here(host)]
        if far and not self.allow_remote:
            hint = "say allow_remote = true if the service is yours"
            message = f"{', '.join(far)} is not this machine"
            raise WrongOption(message, "url", "allow_remote", hint=hint)
        return self

    def hosts(self, url: str) -> Iterable[str]:
        """Return the hosts in the URL of an existing one; a path or "" is this machine."""
        return [urlsplit(url).hostname or ""]

    def outside(self) -> bool:
        """Return True if it is one that already runs."""
        return self.existing is not None

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the data. Raises BenchforgeError when it cannot be read."""
        if self.dataset is None:
            return ""
        return datasets.digest(datasets.folder_of(self.dataset, suite_folder), self.name)

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        """Return the folder of a dataset of the user's own."""
        is_folder = self.dataset is not None and "/" in self.dataset
        return (datasets.folder_of(str(self.dataset), suite_folder),) if is_folder else ()

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


def _host_name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise WrongOption(f"{name!r} is not a host name", hint="write it like 'db' or 'db.local'")
    if name.lower() == "localhost" or not re.search("[A-Za-z_]", name.rpartition(".")[2]):
        raise WrongOption(f"{name!r} has an address already", hint="leave it out")
    return name


class TcpBackend(DataBackend, ABC):
    """A private service that apps reach as they expect, or over a unix socket."""

    fixed_port: ClassVar[str]
    "Name of the port that the option `port` sets."

    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    "TCP port. Default: any free port."
    names: list[Annotated[str, AfterValidator(_host_name)]] = Field(default_factory=list)
    'Host names at which the programs of a trial reach it, such as "db", besides its label.'
    password: Annotated[str, Field(min_length=1)] | None = None
    "Password, which benchforge treats as a secret. Default: it accepts any password."
    listen: Literal["unix", "tcp"] = "unix"
    """Socket on which it listens. With a unix socket, the network's TCP counters count only \
connections to the server. `port`, `names` and `password` imply "tcp"."""

    @model_validator(mode="before")
    @classmethod
    def _implied(cls, options: Any) -> Any:
        if not isinstance(options, dict) or options.keys() & {"listen", "url"}:
            return options
        tcp = {"listen": "tcp"} if any(options.get(name) for name in _OVER_TCP) else {}
        return {**options, **tcp}

    @model_validator(mode="after")
    def _over_tcp(self) -> Self:
        if self.listen == "unix" and (wrong := [name for name in _OVER_TCP if getattr(self, name)]):
            message = f"{', '.join(wrong)} need TCP" if len(wrong) > 1 else f"{wrong[0]} needs TCP"
            hint = "say listen = 'tcp', or leave listen out"
            raise WrongOption(message, "listen", *wrong, hint=hint)
        return self

    def fixed_ports(self) -> Mapping[str, int]:
        """Return the port that the suite sets."""
        return {} if self.port is None else {self.fixed_port: self.port}

    def host_names(self) -> Sequence[str]:
        """Return the names that the suite sets."""
        return self.names


def hba(site: Site, *, private: bool) -> str:
    """Return pg_hba.conf: other hosts, and a private machine itself, connect with the password."""
    peers = [f"host all all {peer}/32 scram-sha-256" for peer in site.peers if peer != site.address]
    machine = f"host all all {site.address}/32 {'scram-sha-256' if private else 'trust'}"
    return "\n".join([*(["local all all trust"] if private else []), machine, *peers, ""])


def password_of(site: Site) -> str:
    """Return the password of a trial: the same at each call, another in each trial."""
    return hmac.new(_SECRET, str(site.scratch).encode(), "sha256").hexdigest()[:32]


def verifier(password: str) -> str:
    """Return what PostgreSQL stores of a password (RFC 5803): it does not give the password."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    stored = hashlib.sha256(hmac.new(salted, b"Client Key", "sha256").digest()).digest()
    server = hmac.new(salted, b"Server Key", "sha256").digest()
    words = [base64.b64encode(part).decode() for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${_ITERATIONS}:{words[0]}${words[1]}:{words[2]}"
