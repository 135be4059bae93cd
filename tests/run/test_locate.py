"""Programs are found in one order, those of a family in one place, and what lacks is told."""

import sys
from pathlib import Path

import pytest

from benchforge.parts.command import Command, Need
from benchforge.run import locate as module
from benchforge.run.locate import libraries, locate, missing, unpack_into, with_libraries

FAMILY = ("postgres", "initdb", "pg_ctl", "pg_isready", "psql")


@pytest.fixture(autouse=True)
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without programs."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("BENCHFORGE_PROGRAMS", str(tmp_path / "wished"))
    monkeypatch.setattr(module, "_SYSTEM", tmp_path / "system")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "clone/.venv"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def family(folder: Path) -> Path:
    for name in FAMILY:
        program(folder / name)
    return folder


def test_path_comes_first_then_what_is_wished_then_what_setup_unpacked(tmp_path: Path) -> None:
    """A user's packages come last, and before them what is for administrators."""
    assert locate("wrk") is None
    for place in (
        "data/benchforge/system/usr/bin/wrk",
        "clone/.tools/system/usr/bin/wrk",
        "wished/usr/sbin/wrk",
        "system/usr/sbin/wrk",
        "path/wrk",
    ):
        assert program(tmp_path / place) == locate("wrk")


def test_where_packages_are_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unpack_into() == tmp_path / "wished"
    monkeypatch.delenv("BENCHFORGE_PROGRAMS")
    assert unpack_into() == tmp_path / "data/benchforge/system"
    clone = Path(__file__).parents[2]
    monkeypatch.setattr(sys, "prefix", str(clone / ".venv"))
    assert unpack_into() == clone / ".tools/system"
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert unpack_into() == tmp_path / "home/.local/share/benchforge/system"


def test_what_cannot_be_executed_is_no_program(tmp_path: Path) -> None:
    program(tmp_path / "path/wrk").chmod(0o644)
    (tmp_path / "wished/usr/bin/wrk").mkdir(parents=True)
    assert locate("wrk") is None


def test_relative_path_absolute_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ":path")
    assert locate("wrk") is None
    program(tmp_path / "path/wrk")
    assert locate("wrk") == tmp_path / "path/wrk"


def test_a_family_comes_from_one_place(tmp_path: Path) -> None:
    """That is the highest version, or the one that a link on PATH leads to."""
    program(tmp_path / "path/psql")  # as Debian's script
    assert locate("psql") == tmp_path / "path/psql"
    for version in ("9.6", "15", "16"):
        full = family(tmp_path / f"system/usr/lib/postgresql/{version}/bin")
    assert {locate(name) for name in FAMILY} == {full / name for name in FAMILY}
    old = full.parents[1] / "15/bin"
    (tmp_path / "path/postgres").symlink_to(old / "postgres")
    assert locate("psql") == old / "psql"


def test_a_whole_family_is_preferred_and_what_lacks_is_not_borrowed(tmp_path: Path) -> None:
    partly = program(tmp_path / "path/postgres").parent
    assert locate("postgres") == partly / "postgres"
    program(tmp_path / "wished/usr/bin/psql")
    assert locate("psql") is None
    unpacked = family(tmp_path / "clone/.tools/system/usr/lib/postgresql/15/bin")
    assert locate("psql") == unpacked / "psql"
    assert locate("postgres") == unpacked / "postgres"


def test_only_an_unpacked_program_needs_libraries(tmp_path: Path) -> None:
    """And what links to it, such as the interpreter of an environment."""
    root = tmp_path / "clone/.tools/system"
    (tmp_path / "python").symlink_to(program(root / "usr/bin/pypy3"))
    for folder in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"):
        (root / folder).mkdir(parents=True)
    places = ("usr/lib/x86_64-linux-gnu", "usr/lib", "lib/x86_64-linux-gnu", "lib")
    path = ":".join(f"{root}/{place}" for place in places)
    for file in (root / "usr/lib/postgresql/15/bin/postgres", tmp_path / "python"):
        assert libraries(file) == {"LD_LIBRARY_PATH": path}
    assert libraries(tmp_path / "path/wrk") == {}
    assert libraries(Path("wrk")) == {}


def test_a_program_that_another_one_starts_has_its_libraries(tmp_path: Path) -> None:
    root = tmp_path / "clone/.tools/system"
    (root / "lib").mkdir(parents=True)
    needs = {"LD_LIBRARY_PATH": f"{root}/lib"}
    command = Command("sh", "-c", '"$0" -v', root / "usr/bin/virtuoso-t", environment={"A": "b"})
    assert with_libraries(command).environment == {**needs, "A": "b"}
    assert with_libraries(Command(root / "usr/bin/wrk", "-v")).environment == needs
    assert with_libraries(Command("sh", "-c", "true", tmp_path)).environment == {}


def test_missing_programs_and_modules_are_told() -> None:
    absent = [
        Need("wrk", "apt-get install wrk"),
        Need("no_such_module", "pip install it", "module"),
        Need("no_such.module", "pip install it", "module"),
    ]
    entries = [Need("json", "", "module"), Need("xml.dom", "", "module")]
    assert missing([*absent, *entries]) == absent
