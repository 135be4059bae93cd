"""The network of a trial: what it sent, and the sockets that wait in it."""

from benchforge.run.watch.files import KeptOpen

_COUNTERS = ("InSegs", "OutSegs", "RetransSegs", "PassiveOpens", "CurrEstab")


class NetworkReader:
    """Reads the network of a process; counters are what they grew by since the beginning."""

    def __init__(self, pid: int) -> None:
        self._snmp = KeptOpen(f"/proc/{pid}/net/snmp")
        self._sockets = KeptOpen(f"/proc/{pid}/net/sockstat")
        self._first = self._counters()

    def row(self, *, fully: bool) -> dict[str, float]:
        """Return what there is to say now, by the names of system.csv; all of it if `fully`."""
        row = {
            name: value if name.endswith("CurrEstab") else value - self._first.get(name, 0.0)
            for name, value in self._counters().items()
        }
        words = (self._sockets.read() or b"").split() if fully else []
        if b"tw" in words:
            row["net.time_wait"] = float(words[words.index(b"tw") + 1])
        return row

    def close(self) -> None:
        """Let go of all files."""
        self._snmp.close()
        self._sockets.close()

    def _counters(self) -> dict[str, float]:
        tcp = [
            line.split() for line in (self._snmp.read() or b"").splitlines() if line[:4] == b"Tcp:"
        ]
        if len(tcp) != 2:  # noqa: PLR2004 - names, then values
            return {}
        counters = dict(zip((name.decode() for name in tcp[0]), tcp[1], strict=True))
        return {f"net.Tcp{name}": float(counters[name]) for name in _COUNTERS if name in counters}
