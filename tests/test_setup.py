"""What `make` and the set-up script tell a person."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("cat", "cksum", "dirname", "grep", "head", "mkdir", "mktemp", "rm", "sed", "sort", "tr")


def set_up(root: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(root / "scripts/setup.sh"), *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A clone on a machine that has a few tools and nothing that benchforge needs."""
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    for name in ("uv.lock", "pyproject.toml", "scripts/setup.sh"):
        shutil.copy(ROOT / name, clone / name)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    return clone


def test_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    told = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    for target in set(phony[1].split()) - {"help", "setup-dev"}:
        assert f"make {target} " in told.stdout


def test_without_python_it_says_what_to_install(bare: Path) -> None:
    done = set_up(bare, PATH=str(bare.parent / "bin"), HOME=str(bare.parent))
    assert done.returncode == 3
    assert done.stderr == (
        "setup: Python 3.11 or newer is missing; install it: apt-get install python3\n"
    )


def test_a_python_that_cannot_run_is_passed_over(bare: Path) -> None:
    shim = bare.parent / "bin/python3"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    done = set_up(bare, PATH=str(shim.parent), HOME=str(bare.parent))
    assert "Python 3.11 or newer is missing" in done.stderr


@pytest.mark.skipif(
    not (ROOT / ".venv/.ready-dev").exists(), reason="the environment was not made by make test"
)
def test_a_second_set_up_says_nothing() -> None:
    done = set_up(ROOT, "dev", **os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
