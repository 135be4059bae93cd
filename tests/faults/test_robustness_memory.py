"""A server that takes more and more memory: it is bounded, and its end is told."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.robustness import noted
from faults.shell import program, shell
from faults.watched import valid, watched
from front_door import Bench
from suite_texts.with_wrk import suite

AT_MOST = 128 << 20
BOUND = f"\n[tuning.limits]\nas = {1 << 29}\n"  # whatever else goes wrong
GROUPS = {"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"}


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group with little memory, where this machine lets us make one."""
    folder = next(filter(None, map(_bounded, GROUPS)), None)
    if folder is None:
        pytest.skip("no control group of memory may be made here")
    yield folder
    folder.rmdir()


def _bounded(root: str) -> Path | None:
    try:
        folder = Path(tempfile.mkdtemp(prefix="benchforge-", dir=root))
    except OSError:
        return None
    limit = folder / GROUPS[root]
    if not limit.exists():  # of a hierarchy without memory, or no hierarchy at all
        folder.rmdir()
        return None
    limit.write_text(f"{AT_MOST}")
    return folder


def test_memory_is_bounded_by_the_suites_limit(bench: Bench, tmp_path: Path) -> None:
    path = suite(tmp_path, shell(program("processes/eats")), more=BOUND)
    with watched(tmp_path, "run", "--details", path) as run:
        noted("a server that takes all memory, below [tuning.limits]", run, "before it was ready")
        assert "MemoryError" in run.ended().all


@pytest.mark.exhaustive
def test_a_server_out_of_memory_fails_the_trial(bench: Bench, tmp_path: Path, group: Path) -> None:
    grows = program("servers/answers", "--grows", 1 << 20, "--port", "$1")
    path = suite(tmp_path, shell(f"echo $$ > {group}/cgroup.procs; {grows}"), more=BOUND)
    with watched(tmp_path, "run", "--details", path) as run:
        noted("a server grows under load until its control group is full", run, "exit code -9")
    valid(bench, run)
