"""A server that already runs."""

import ipaddress
from pathlib import Path
from typing import Annotated, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from benchforge.plugin import Command, Server, Site, WrongOption


def _root(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise WrongOption("not the root of a server", hint="write it like http://127.0.0.1:8080")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise WrongOption("more than a root", hint="end it after the port: requests have paths")
    if parts.username is not None:
        raise WrongOption("a root with credentials", hint="they belong to the headers of a request")
    if parts.port == 0:
        raise WrongOption("no server has port 0", hint="write the port that it listens on")
    return f"{parts.scheme}://{parts.netloc}"


class Url(Server):
    """A server that runs already. benchforge does not start, measure or stop its process.

    Good to know: nothing ensures that the server is fresh, alone or what its label says, and its
    CPU time and memory are unknown. It is reached over the host's network, not over a private one.
    Over HTTPS, benchforge checks its certificate in the probes; load tools do not.
    """

    name: ClassVar[str] = "url"
    ports: ClassVar[tuple[str, ...]] = ()

    root: Annotated[str, AfterValidator(_root)] = Field(alias="url")
    "Root URL of the server, such as http://127.0.0.1:8080."
    ca_file: str | None = None
    """Path of a PEM file with trusted certificates, relative to the suite's folder. Default: the \
system's certificates."""
    allow_remote: bool = False
    "Permission to use a server on another machine. Put load only on machines that are yours."

    @model_validator(mode="after")
    def _of_https(self) -> Self:
        if self.ca_file is not None and not self.root.startswith("https:"):
            raise WrongOption("it is for an https URL", "ca_file", "url")
        return self

    @model_validator(mode="after")
    def _ours(self) -> Self:
        host = urlsplit(self.root).hostname or ""
        if not (self.allow_remote or _is_loopback(host)):
            hint = "say allow_remote = true if the server is yours"
            raise WrongOption(f"{host} is not this machine", "url", "allow_remote", hint=hint)
        return self

    def outside(self) -> bool:
        return True

    def command(self, site: Site) -> Command | None:
        return None

    def certificate(self, site: Site) -> Path | None:
        return None if self.ca_file is None else site.suite_folder.absolute() / self.ca_file

    def url(self, site: Site) -> str:
        return self.root


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name; what it stands for may change
        return False
