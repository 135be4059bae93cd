"""The machine's network; where allowed, a trial has one of its own with the kernel's values."""

from collections.abc import Iterator
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.run.machine.cpu_ticks import number, text

_BACKLOG = 1024
_PORTS = 20_000
_MTU = 65536


def findings(root: Path) -> Iterator[MachineFinding]:
    """Yield what there is to say of the network."""
    yield _backlog(number(text(root, "proc/sys/net/core/somaxconn")))
    yield _ports(text(root, "proc/sys/net/ipv4/ip_local_port_range"))
    yield _loopback(number(text(root, "sys/class/net/lo/mtu")))


def _backlog(most: int | None) -> MachineFinding:
    if most is None:
        return unknown("somaxconn", "the kernel does not say how many connections may wait")
    if most < _BACKLOG:
        says = f"{most}: of more connections at once some are refused, in the host's network"
        return warn("somaxconn", says, "sysctl net.core.somaxconn=4096")
    return ok("somaxconn", str(most))


def _ports(words: str | None) -> MachineFinding:
    ends = [number(word) for word in (words or "").split()]
    match ends:
        case [int(first), int(last)] if first <= last:
            count = last - first + 1
        case _:
            return unknown("port range", "the kernel does not say")
    if count < _PORTS:
        says = f"{first}-{last}: without keep-alive a load runs out of ports, in the host's network"
        return warn("port range", says, 'sysctl net.ipv4.ip_local_port_range="32768 60999"')
    return ok("port range", f"{first}-{last}, {count} connections a minute without keep-alive")


def _loopback(mtu: int | None) -> MachineFinding:
    if mtu is None:
        return unknown("loopback MTU", "the kernel does not say")
    if mtu != _MTU:
        says = f"{mtu}, not {_MTU}: large answers cost more packets than elsewhere"
        return warn("loopback MTU", says, f"ip link set lo mtu {_MTU}")
    return ok("loopback MTU", str(mtu))
