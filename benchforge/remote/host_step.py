"""A host's share of the suite, and of each trial when it begins."""

from typing import Any

from benchforge.model.values.frozen import Frozen


class HostSuite(Frozen):
    """A suite, as a host that runs parts reads it."""

    files: str
    "Digest of the files that were brought."
    path: str
    "File of the suite among them."
    trees: tuple[tuple[str | None, str, str, str], ...]
    "Checkouts, each as directory, ref, repository and place."
    text: str
    "The suite, without secrets that the host does not need."
    environment: dict[str, str]
    "Values of the environment that its parts name."
    digests: dict[str, str]
    feeds: bool
    "True if it sends requests, so that it has the files of feeds."
    peers: tuple[str, ...]
    "Addresses of all hosts."
    profile: str | None
    settings: tuple[tuple[str, str], ...]
    only: tuple[str, ...]


class HostStep(Frozen):
    """One trial, as all of its hosts measure it, and this host's share of the load."""

    block: int
    position: int
    seed: int
    run_seed: int
    number: int
    attempt: int
    answer: tuple[str, str] | None
    "Server and body, in Base64, that its own answer must equal."
    share: tuple[int, int] | None
    "Place of the host among those that divide the load, and their number."
    rate: float | None
    "Rate of a search, in requests per second."
    null: dict[str, Any] | None
    "The null server, of a load tool that is measured against it, and its share."
