"""What `make` and the set-up script tell a person."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchforge.registry import Registry
from benchforge.run.installed import installed

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
    for name in ("uv.lock", "pyproject.toml", "scripts/setup.sh", "benchforge/run/debian.sh"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
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


@pytest.fixture
def prepared(bare: Path) -> Path:
    """The same clone with its Python environment: the programs are what is missing."""
    (bare / ".venv/bin").mkdir(parents=True)
    (bare / ".venv/bin/python").symlink_to(sys.executable)
    words = ["cksum", str(bare / "uv.lock"), str(bare / "pyproject.toml")]
    sums = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    for want in ("run", "dev"):
        (bare / f".venv/.ready-{want}").write_text(f"{bare}\n{sums}")
    return bare


# Those that are found by their names alone: nginx and PostgreSQL are where PATH need not lead.
RUN = ["apache2-utils", "wrk"]
DEV = [*RUN, "openssl", "pypy3", "redis-server", "redis-tools", "virtuoso-opensource-7-bin"]
DEV += ["hey", "httperf", "hyperfine", "nghttp2-client", "siege"]


@pytest.mark.parametrize(("words", "packages"), [((), RUN), (("dev",), DEV)], ids=["run", "dev"])
def test_without_apt_it_says_which_programs_to_install(
    prepared: Path, words: tuple[str, ...], packages: list[str]
) -> None:
    done = set_up(prepared, *words, PATH=str(prepared.parent / "bin"), HOME=str(prepared.parent))
    assert done.returncode == 3
    told, _, names = done.stderr.strip().rpartition(": ")
    assert told == "setup: programs are missing; install by your system's means, and on PATH"
    assert sorted(set(names.split()) - {"nginx-light", "postgresql"}) == sorted(packages)


def test_an_unpacked_program_is_enough(prepared: Path) -> None:
    for name in ("usr/bin/wrk", "usr/sbin/ab", "usr/lib/postgresql/15/bin/postgres"):
        program = prepared / ".tools/system" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(mode=0o755)
    program.with_name("initdb").touch(mode=0o755)
    done = set_up(prepared, PATH=str(prepared.parent / "bin"), HOME=str(prepared.parent))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def packages_of_the_set_up() -> set[str]:
    script = (ROOT / "scripts/setup.sh").read_text()
    listed = re.findall(r"<<END\n(.*?)\nEND", script.partition("\nprograms() {")[2], re.DOTALL)
    return {line.split()[1] for block in listed[:2] for line in block.splitlines()}


# Of the tests and the examples themselves.
FURTHER = {"pypy3", "httperf"}


def test_the_set_up_fetches_what_the_parts_name() -> None:
    named = {need.debian for need in installed(Registry()).needs if need.debian}
    assert packages_of_the_set_up() == named | FURTHER


def test_ci_installs_every_package_that_the_set_up_would_fetch() -> None:
    packages, ci = packages_of_the_set_up(), (ROOT / ".ci/run").read_text()
    names = re.search(r"local names=\((.*?)\)", ci, re.DOTALL)
    assert names is not None
    assert packages <= set(names[1].split())


@pytest.mark.skipif(
    not (ROOT / ".venv/.ready-dev").exists(), reason="the environment was not made by make test"
)
def test_a_second_set_up_says_nothing() -> None:
    done = set_up(ROOT, "dev", **os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
