"""What `make` and the set-up script tell a person."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from front_door import captured
from present import present

from benchforge.cli.machine.doctor.report import installed
from benchforge.parts.registry import Registry

ROOT = Path(__file__).parents[2]
TOOLS = "cat cksum dirname grep head ldd mkdir mktemp rm sed sort tr"
COPIED = ["uv.lock", "pyproject.toml", "scripts/setup.sh"]
COPIED.append("benchforge/cli/machine/doctor/debian.sh")


def set_up(root: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    """Return the exit code of the script, and what it printed."""
    environment = environment or {"PATH": str(root.parent / "bin"), "HOME": str(root.parent)}
    done = captured(["/bin/sh", root / "scripts/setup.sh", *words], env=environment)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A clone on a machine that has a few tools and nothing that benchforge needs."""
    clone = tmp_path / "clone"
    for name in COPIED:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS.split():
        (programs / name).symlink_to(present(shutil.which(name)))
    return clone


def test_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = present(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE))
    finished = captured(["make", "-C", ROOT], check=True)
    for target in set(phony[1].split()) - {"help", "setup-dev"}:
        assert f"make {target} " in finished.stdout


def test_without_python_it_says_what_to_install(bare: Path) -> None:
    code, _, err = set_up(bare)
    says = "setup: Python 3.11 or newer is missing; install it: apt-get install python3\n"
    assert (code, err) == (3, says)
    # One that cannot run is passed over.
    shim = bare.parent / "bin/python3"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert set_up(bare)[2] == says


def test_half_of_it_is_prepared_by_name(bare: Path) -> None:
    assert "Python 3.11 or newer" in set_up(bare, "dev", "environment")[2]
    code, _, err = set_up(bare, "dev", "programs")
    assert (code, "Python" in err) == (3, False)
    code, _, err = set_up(bare, "dev", "tools")
    says = "setup: what to prepare is environment or programs, and not: tools\n"
    assert (code, err) == (3, says)


@pytest.fixture
def prepared(bare: Path) -> Path:
    """The same clone with its Python environment: the programs are what is missing."""
    (bare / ".venv/bin").mkdir(parents=True)
    (bare / ".venv/bin/python").symlink_to(sys.executable)
    sums = captured(["cksum", bare / "uv.lock", bare / "pyproject.toml"], check=True).stdout
    for want in ("run", "dev"):
        (bare / f".venv/.ready-{want}").write_text(f"{bare}\n{sums}")
    return bare


MISSING = "programs are missing, or cannot start"
# Those that are found by their names alone: nginx and PostgreSQL are where PATH need not lead.
RUN = "apache2-utils wrk"
DEV = f"""{RUN} openssh-server openssl pypy3 redis-server redis-tools virtuoso-opensource-7-bin
chromium-headless-shell hey httperf hyperfine nghttp2-client siege"""


@pytest.mark.parametrize(("words", "packages"), [((), RUN), (("dev",), DEV)], ids=["run", "dev"])
def test_no_apt_prints_names(prepared: Path, words: tuple[str, ...], packages: str) -> None:
    code, _, err = set_up(prepared, *words)
    assert code == 3
    strip, _, names = err.strip().rpartition(": ")
    assert strip == f"setup: {MISSING}; install by your system's means, and on PATH"
    assert {*names.split()} - {"nginx-light", "postgresql"} == {*packages.split()}


def test_an_unpacked_program_is_enough_unless_it_lacks_a_library(prepared: Path) -> None:
    system = prepared / ".tools/system"
    of_postgresql = (f"lib/postgresql/15/bin/{name}" for name in ("postgres", "initdb"))
    for name in ("bin/wrk", "sbin/ab", *of_postgresql):
        (system / "usr" / name).parent.mkdir(parents=True, exist_ok=True)
        (system / "usr" / name).touch(mode=0o755)
    assert set_up(prepared) == (0, "", "")
    program = Path("/bin/true").read_bytes()
    assert b"\0libc.so.6\0" in program
    ab = system / "usr/sbin/ab"
    ab.write_bytes(program.replace(b"\0libc.so.6\0", b"\0libq.so.6\0"))
    for _ in range(2):
        code, _, err = set_up(prepared)
        assert code == 3
        first, second = err.splitlines()
        assert first == f"setup: {ab} lacks libq.so.6"
        assert second.startswith(f"setup: {MISSING}; ")
        assert second.endswith(": apache2-utils")
    # A library below /lib is found, too.
    (library := system / "lib/x86_64-linux-gnu/libq.so.6").parent.mkdir(parents=True)
    (real,) = Path("/lib").glob("*-linux-gnu/libc.so.6")
    shutil.copy(real, library)
    assert set_up(prepared) == (0, "", "")


# Of the tests and the examples themselves.
FURTHER = {"pypy3", "httperf", "chromium-headless-shell", "openssh-server"}


def test_the_set_up_fetches_what_the_parts_name() -> None:
    script = (ROOT / "scripts/setup.sh").read_text()
    listed = re.findall(r"<<END\n(.*?)\nEND", script.partition("\nprograms() {")[2], re.DOTALL)
    packages = {line.split()[1] for block in listed[:2] for line in block.splitlines()}
    named = {need.debian for need in installed(Registry()).needs if need.debian}
    assert packages == named | FURTHER


def test_ci_is_make_test_and_nothing_before_it() -> None:
    lines = (ROOT / ".ci/run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands == ["set -euo pipefail", 'cd "$(dirname "${BASH_SOURCE[0]}")/.."', "make test"]


@pytest.mark.skipif(
    not (ROOT / ".venv/.ready-dev").exists(), reason="the environment was not made by make test"
)
def test_a_second_set_up_says_nothing() -> None:
    assert set_up(ROOT, "dev", **os.environ) == (0, "", "")
