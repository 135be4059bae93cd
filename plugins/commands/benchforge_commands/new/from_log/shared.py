"""Texts of an access log that are no secret of one client: several clients sent them."""

LEAST_CLIENTS, LEAST_TIMES = 3, 5
_MOST = 500_000  # texts that are counted


class SharedTexts:
    """Who sent which text, and how often."""

    def __init__(self) -> None:
        """Begin without any."""
        self._clients: set[str] = set()
        self._senders: dict[str, set[str]] = {}
        self._times: dict[str, int] = {}

    def add(self, text: str, client: str) -> None:
        """Take a text that a client sent."""
        if len(self._clients) < LEAST_CLIENTS:
            self._clients.add(client)
        if text not in self._times and len(self._times) >= _MOST:
            return
        self._times[text] = self._times.get(text, 0) + 1
        senders = self._senders.setdefault(text, set())
        if len(senders) < LEAST_CLIENTS:
            senders.add(client)

    @property
    def behind_proxy(self) -> bool:
        """Whether the log has too few clients to tell who sent what."""
        return len(self._clients) < LEAST_CLIENTS

    def __contains__(self, text: object) -> bool:
        """Whether enough clients sent a text; in a log of few clients, whether it is frequent."""
        if not isinstance(text, str):
            return False
        if self.behind_proxy:
            return self._times.get(text, 0) >= LEAST_TIMES
        return len(self._senders.get(text, ())) >= LEAST_CLIENTS
