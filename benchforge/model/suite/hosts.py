"""The machines of a suite: where they are, and which roles they have."""

from typing import Annotated

from pydantic import AfterValidator, Field

from benchforge.model.values.frozen import Frozen


def _ipv4(text: str) -> str:
    import ipaddress  # noqa: PLC0415 - a suite without hosts needs none of it

    if ipaddress.IPv4Address(text).is_unspecified:
        raise ValueError("0.0.0.0 is no address that others can reach")
    return text


class HostTable(Frozen):
    """A table [hosts.x]: a machine that runs parts of a trial."""

    ssh: str = Field(pattern=r"^[^-\s][^\s]*$")
    "Destination for OpenSSH: user@host, or a name of ~/.ssh/config."
    address: Annotated[str, AfterValidator(_ipv4)] | None = None
    "IPv4 address at which the other hosts reach it. Default: the address that ssh connects to."
    python: str | None = Field(default=None, pattern=r"^[^-\s]\S*$")
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
    loader: str | None = None
    "Host of the load tools and clients."
