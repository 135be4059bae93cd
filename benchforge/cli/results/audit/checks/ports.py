"""New connections: each takes a port, which is free again after a minute."""

from collections.abc import Sequence

from benchforge.cli.results.audit.facts import interval, number, shown, word
from benchforge.cli.results.audit.finding import Finding
from benchforge.parts.reader import Row
from benchforge.text import readable

_PORTS = 65_536 - 1024
_WAIT_S = 60.0
"Linux keeps a connection in TIME_WAIT for that time, on the side that closes it."


def ports(row: Row) -> Sequence[Finding] | None:
    """AK2: a client has the ports for its new connections."""
    connects, lasted = number(row, "connects"), interval(row, "duration")
    if connects is None or lasted is None or word(row, "closer") == "server":
        return None
    most = _PORTS * (1 + lasted.high / _WAIT_S)
    if connects.low <= most:
        return []
    addresses = -(-connects.low // most)
    return [
        Finding(
            "AK2",
            "unsupported",
            "more connections were opened than one address has ports",
            f"{readable.exact(float(connects.value))} connections in "
            f"{shown(row.facts['duration'])}; an address has {_PORTS:,} ports, and each is in use "
            f"for {_WAIT_S:g} s after its connection: {readable.exact(round(most))} at most",
            "the load came from one address to one port, and the client closed the connections",
            f"the server closed the connections, the client reset them, its kernel reused ports "
            f"earlier (tcp_tw_reuse), or the load came from {readable.exact(addresses)} addresses",
        )
    ]
