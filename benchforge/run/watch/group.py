"""The quota of CPU time of our control group, and of those above it."""

from collections.abc import Iterator
from pathlib import Path

from benchforge.run.watch.files import KeptOpen, content

_TOP = "sys/fs/cgroup"
_NAMES = {"cpu", ""}  # the controller of version 1; the one hierarchy of version 2


def stats(root: Path) -> tuple[KeptOpen, ...]:
    """Return cpu.stat of each group that has a quota: who is in it may be stopped."""
    folders = [folder for folder in _folders(root) if _has_quota(folder)]
    return tuple(KeptOpen(str(folder / "cpu.stat")) for folder in folders)


def throttled(stat: KeptOpen) -> int:
    """Return how often the group was stopped."""
    words = (stat.read() or b"").split()
    return int(words[words.index(b"nr_throttled") + 1]) if b"nr_throttled" in words else 0


def _folders(root: Path) -> Iterator[Path]:
    for line in (content(f"{root}/proc/self/cgroup") or b"").decode().splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        names = [name for name in path.split("/") if name]
        if not _NAMES & set(controllers.split(",")) or ".." in names:
            continue
        for top in (controllers,) if controllers else ("", "unified"):
            depths = range(len(names), -1, -1)
            yield from (Path(root, _TOP, top, *names[:depth]) for depth in depths)


def _has_quota(folder: Path) -> bool:
    version_2 = (content(str(folder / "cpu.max")) or b"max").split()[0]
    version_1 = (content(str(folder / "cpu.cfs_quota_us")) or b"-1").strip()
    return version_2 != b"max" or not version_1.startswith(b"-")
