"""Little of what a machine gives: a sentence and the exit code, and no traceback."""

import resource
import subprocess
from pathlib import Path

import pytest
from front_door import bench_words

SUITE = """benchforge = 1
smoke = true
[servers.a]
use = "waitress"
app = "hello_wsgi"
[loaders.pace]
use = "pace"
connections = 1
duration = "1s"
[scenarios.s]
servers = ["a"]
loaders = ["pace"]
"""


@pytest.mark.parametrize(
    ("limit", "most"), [(resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_AS, 300_000 << 10)]
)
def test_a_run_with_little_ends_in_a_sentence(tmp_path: Path, limit: int, most: int) -> None:
    (tmp_path / "a.toml").write_text(SUITE)
    ended = subprocess.run(
        bench_words("run", "a.toml"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(limit, (most, most)),
    )
    assert "Traceback" not in ended.stderr
    assert ended.returncode in {0, 4}
    assert ended.returncode == 0 or "error: " in ended.stderr


def test_a_full_disk_ends_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SUITE)
    with Path("/dev/full").open("w") as full:
        words = bench_words("check", "a.toml")
        ended = subprocess.run(
            words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, "Traceback" in ended.stderr) == (5, False)
    assert "No space left on device" in ended.stderr
