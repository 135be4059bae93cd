"""Texts of an access log that are no secret of one client: several clients sent them."""

LEAST_CLIENTS, LEAST_TIMES = 3, 5
_MOST = 250_000  # texts that are counted at a time


class SharedTexts:
    """Who sent which text."""

    def __init__(self, *, behind_proxy: bool = False) -> None:
        """Begin without any. Addresses `behind_proxy` are of no client: requests are counted."""
        self._behind_proxy = behind_proxy
        self._least = LEAST_TIMES if behind_proxy else LEAST_CLIENTS
        self._clients: set[str] = set()
        self._senders: dict[str, tuple[str, ...]] = {}

    def add(self, text: str, client: str) -> None:
        """Take a text that a client sent. Of too many texts, those of few clients are forgotten."""
        if len(self._clients) < LEAST_CLIENTS:
            self._clients.add(client)
        senders = self._senders.get(text, ())
        if len(senders) < self._least and (self._behind_proxy or client not in senders):
            self._senders[text] = (*senders, client)
        if len(self._senders) > _MOST:
            by_senders = sorted(self._senders.items(), key=lambda item: -len(item[1]))
            self._senders = dict(by_senders[: _MOST // 2])

    @property
    def few_clients(self) -> int | None:
        """Number of client addresses, where they are too few to tell who sent what."""
        few = len(self._clients) < LEAST_CLIENTS and not self._behind_proxy
        return len(self._clients) if few else None

    def __contains__(self, text: object) -> bool:
        """Whether enough clients sent a text; behind a proxy, whether it came often enough."""
        return isinstance(text, str) and len(self._senders.get(text, ())) >= self._least
