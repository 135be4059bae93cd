"""The machines of a suite: where they are, and which roles they have."""

import re
from typing import Annotated

from pydantic import AfterValidator

from benchforge.model.values.frozen import Frozen


def _ipv4(text: str) -> str:
    numbers = text.split(".")
    if len(numbers) != 4 or not all(re.fullmatch(r"0|[1-9]\d{0,2}", one) for one in numbers):  # noqa: PLR2004
        raise ValueError("should be an IPv4 address, such as 10.0.0.1")
    if max(map(int, numbers)) > 255 or numbers[0] in {"0", "127"}:  # noqa: PLR2004
        raise ValueError("should be an IPv4 address that other hosts can reach, such as 10.0.0.1")
    return text


def _word(text: str) -> str:
    # A word that begins with - would be an option of ssh.
    if not re.fullmatch(r"[^-\s\x00-\x1f][^\s\x00-\x1f]*", text):
        raise ValueError("should be one word that does not begin with '-'")
    return text


class EngineTable(Frozen):
    """The table [engine]: what carries benchforge's calls to the hosts."""

    use: str = "ssh"
    "Engine: `ssh`, or `dask` for the workers of a dask cluster that runs already."
    scheduler: Annotated[str, AfterValidator(_word)] | None = None
    'Address of the scheduler of dask, such as "tls://10.0.0.1:8786".'
    ca: str | None = None
    "Path of the certificate of the cluster's authority, relative to the suite."
    certificate: str | None = None
    "Path of the certificate with which benchforge connects to the scheduler."
    key: str | None = None
    "Path of the key of that certificate."


class HostTable(Frozen):
    """A table [hosts.x]: a machine that runs parts of a trial."""

    ssh: Annotated[str, AfterValidator(_word)] | None = None
    "Destination for OpenSSH: user@host, or a name of ~/.ssh/config."
    worker: Annotated[str, AfterValidator(_word)] | None = None
    "Name of a worker of dask, or of a resource that one worker has, with the engine `dask`."
    address: Annotated[str, AfterValidator(_ipv4)] | None = None
    """IPv4 address at which the other hosts reach it. Default: the address that ssh connects to; \
the engine `dask` has none."""
    python: Annotated[str, AfterValidator(_word)] | None = None
    """Python on the host, of the same minor version as benchforge's own. Default: python3.N or \
python3 on the account's PATH."""
    labels: tuple[str, ...] = ()
    "Words that describe the host in the plan and in reports."


class HostsByRole(Frozen):
    """The table [placement.hosts]: hosts of parts that name none themselves."""

    server: str | None = None
    "Host of the measured servers."
    upstream: str | None = None
    "Host of the servers behind a proxy."
    backend: str | None = None
    "Host of the backends."
    loader: str | tuple[str, ...] | None = None
    "Host of the load tools and clients, or hosts among which each load is divided evenly."
