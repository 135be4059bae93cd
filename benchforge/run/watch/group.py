"""The quota of CPU time of control groups: of our own, of a part's, and of those above."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchforge.run.watch.files import content, whole

_TOP = "sys/fs/cgroup"
_USUAL_PERIOD_US = b"100000"
_NAMES = {"cpu", ""}  # the controller of version 1; the one hierarchy of version 2


def with_quota(root: Path, pid: str = "self") -> list[Path]:
    """Return each group of a process that has a quota: who is in it may be stopped."""
    return [folder for folder in _folders(root, pid) if _quota(folder) is not None]


def throttled(folder: Path) -> int:
    """Return how often the group was stopped."""
    words = (whole(f"{folder}/cpu.stat") or b"").split()
    return int(words[words.index(b"nr_throttled") + 1]) if b"nr_throttled" in words else 0


class PartQuota:
    """The quotas below which the processes of a part run, and how often they were stopped."""

    def __init__(self, pids: Iterable[int], root: Path = Path("/")) -> None:
        self._root = root
        self._folders = {pid: with_quota(root, str(pid)) for pid in pids}
        folders = (folder for each in self._folders.values() for folder in each)
        self._first = {folder: throttled(folder) for folder in folders}

    def of(self, pid: int) -> tuple[float | None, int | None]:
        """Return a process's smallest quota, in CPUs, and its new stops; None without a quota."""
        folders = self._folders.get(pid) or with_quota(self._root, str(pid))
        quotas = [cpus for folder in folders if (cpus := _quota(folder)) is not None]
        if not quotas:
            return None, None
        stops = (throttled(folder) - self._first.get(folder, 0) for folder in folders)
        return min(quotas), max(0, *stops)


def _folders(root: Path, pid: str) -> Iterator[Path]:
    for line in (content(f"{root}/proc/{pid}/cgroup") or b"").decode().splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        names = [name for name in path.split("/") if name]
        if not _NAMES & set(controllers.split(",")) or ".." in names:
            continue
        for top in (controllers,) if controllers else ("", "unified"):
            depths = range(len(names), -1, -1)
            yield from (Path(root, _TOP, top, *names[:depth]) for depth in depths)


def _quota(folder: Path) -> float | None:
    words = (content(str(folder / "cpu.max")) or b"").split()  # version 2
    if not words:
        words = [
            content(str(folder / "cpu.cfs_quota_us")) or b"",
            content(str(folder / "cpu.cfs_period_us")) or _USUAL_PERIOD_US,
        ]
    try:
        quota_us, period_us = map(int, words)
    except ValueError:  # max, or no such file
        return None
    return quota_us / period_us if quota_us > 0 < period_us else None
