"""Files that are no suites, of any size: told at once, in bounded memory, by the command itself."""

import os
from pathlib import Path

import pytest
from front_door import Bench

SUITE = """\
benchforge = 1
[servers.flask]
use = "gunicorn"
app = "hello_flask"
[loaders.closed]
use = "wrk"
[scenarios.hello]
servers = ["flask"]
loaders = ["closed"]
"""
DEEP = (
    "a = " + "[" * 5000 + "]" * 5000,
    "a = " + "{a = " * 5000 + "1" + "}" * 5000,
    ".".join("a" * 5000) + " = 1",
    "[" + ".".join("a" * 5000) + "]",
)


def told(bench: Bench, folder: Path, text: str) -> list[str]:
    (folder / "a.toml").write_text(text)
    call = bench("run", "a.toml")
    assert (call.code, call.out) == (2, "")
    return [line for line in call.err.splitlines() if line.startswith("error")]


def test_ten_thousand_errors_are_twenty_and_a_count(bench: Bench, tmp_path: Path) -> None:
    lines = told(bench, tmp_path, SUITE + "".join(f"option{n} = 1\n" for n in range(10_000)))
    assert len(lines) == 21
    assert lines[0].startswith("error: a.toml:10:1: scenarios.hello.option0: unknown key")
    assert lines[-1] == "error: and 9,980 more errors"


def test_an_error_in_a_line_of_a_megabyte_is_cut(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'{SUITE}body = "{"x" * 1_000_000}"\n')
    call = bench("run", "a.toml")
    assert "a.toml:10:1: scenarios.hello.body: unknown key" in call.err
    assert len(call.err) < 1000


def test_what_is_no_file_is_not_read(bench: Bench, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    for path in ("pipe.toml", "/dev/zero"):
        call = bench("run", path, within_s=100, code=2)
        assert call.err.startswith(f"error: {path}: a pipe or a device, not a file\nhint: ")


def test_a_file_of_more_than_four_mebibytes_is_none(bench: Bench, tmp_path: Path) -> None:
    with (tmp_path / "a.toml").open("wb") as file:
        file.truncate(4 * 1024**2 + 1)
    call = bench("run", "a.toml", code=2)
    assert call.err.splitlines()[0] == "error: a.toml: more than 4 MiB, too large for a suite"


def test_a_file_that_may_not_be_read_is_told(bench: Bench, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (tmp_path / "a.toml").write_text(SUITE)
    (tmp_path / "a.toml").chmod(0)
    assert bench("run", "a.toml").err == "error: a.toml: cannot be read: Permission denied\n"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("repeat.blocks=99999999999999999999999", "expected at most 1000000, got 999"),
        ("repeat.warmup=1e308", "expected a year at most, got 1e+308"),
        ('loaders.closed.duration="99999999999h"', "expected a year at most, got '99999999999h'"),
        (f"{'a.' * 5000}b=1", "nested more than 50 levels deep"),
    ],
)
def test_wild_numbers_are_refused(bench: Bench, tmp_path: Path, setting: str, message: str) -> None:
    (tmp_path / "a.toml").write_text(SUITE)
    call = bench("plan", "a.toml", "--set", setting)
    assert (call.code, call.out) == (2, "")
    assert message in call.err.splitlines()[0]
    assert "Traceback" not in call.err


def test_a_path_that_is_not_utf_8_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "\udcff").mkdir()
    (tmp_path / "\udcff/a.toml").write_text(SUITE)
    call = bench("run", "\udcff/a.toml", code=2)
    assert call.err.splitlines()[0].endswith(": its path is not UTF-8")


HEADERS = "[scenarios.hello.request.headers]\n"
HEADERS += "".join(f'X-{n} = "{"y" * 990}"\n' for n in range(3_000))
CLAIM = '[claims.c]\nscenario = { a = 1 }\nmetric = "m"\nholds = "a > b"\na.server = "flask"\n'
NUL = '[servers.own]\n{} = "a\\u0000"\n'
OWN = SUITE.replace('app = "hello_flask"\n', "")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        *((text, "nested more than 50 levels deep") for text in DEEP),
        # Three megabytes are read.
        (f"{SUITE}{HEADERS}last = y\n", "a.toml:3011:8: not TOML: no value"),
        (SUITE + CLAIM, "a.toml:11:1: claims.c.scenario: expected text, got a table"),
        *(
            (OWN + NUL.format(key), f"a.toml:10:1: servers.own.{key}: a text with a NUL character")
            for key in ("directory", "app")
        ),
    ],
    ids=lambda value: value[-40:],
)
def test_a_file_has_one_error(bench: Bench, tmp_path: Path, text: str, error: str) -> None:
    (sole,) = told(bench, tmp_path, text)
    assert sole.endswith(error)
