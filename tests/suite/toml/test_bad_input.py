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
DEEP = {
    "arrays": "a = " + "[" * 5000 + "]" * 5000,
    "inline": "a = " + "{a = " * 5000 + "1" + "}" * 5000,
    "keys": ".".join("a" * 5000) + " = 1",
    "header": "[" + ".".join("a" * 5000) + "]",
}


def told(bench: Bench, folder: Path, text: str) -> list[str]:
    (folder / "a.toml").write_text(text)
    call = bench("run", "a.toml")
    assert (call.code, call.out) == (2, "")
    return [line for line in call.err.splitlines() if line.startswith("error")]


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_what_is_nested_too_deeply_is_one_error(bench: Bench, tmp_path: Path, text: str) -> None:
    (only,) = told(bench, tmp_path, text)
    assert only.endswith("nested more than 50 levels deep")


def test_ten_thousand_errors_are_twenty_and_a_count(bench: Bench, tmp_path: Path) -> None:
    lines = told(bench, tmp_path, SUITE + "".join(f"option{n} = 1\n" for n in range(10_000)))
    assert len(lines) == 21
    assert lines[0].startswith("error: a.toml:10:1: scenarios.hello.option0: unknown key")
    assert lines[-1] == "error: and 9,980 more errors"


def test_a_line_of_a_megabyte_is_cut(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'{SUITE}body = "{"x" * 1_000_000}"\n')
    call = bench("run", "a.toml")
    assert "a.toml:10:1: scenarios.hello.body: unknown key" in call.err
    assert len(call.err) < 1000


def test_three_megabytes_are_read(bench: Bench, tmp_path: Path) -> None:
    headers = "".join(f'X-{n} = "{"y" * 990}"\n' for n in range(3_000))
    text = f"{SUITE}[scenarios.hello.request.headers]\n{headers}"
    (only,) = told(bench, tmp_path, f"{text}last = y\n")
    assert only == "error: a.toml:3011:8: not TOML: no value"


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


def test_a_claim_about_a_table_is_one_error(bench: Bench, tmp_path: Path) -> None:
    claim = '[claims.c]\nsays = "x"\nscenario = { a = 1 }\nmetric = "m"\nholds = "a > b"\n'
    sides = 'a = { server = "flask" }\nb = { server = "flask" }\n'
    text = "error: a.toml:12:1: claims.c.scenario: expected text, got a table"
    assert text in told(bench, tmp_path, SUITE + claim + sides)


@pytest.mark.parametrize("key", ["directory", "app"])
def test_a_nul_is_located(bench: Bench, tmp_path: Path, key: str) -> None:
    text = SUITE.replace('app = "hello_flask"\n', "") + f'[servers.own]\n{key} = "a\\u0000"\n'
    (only,) = told(bench, tmp_path, text)
    assert only == f"error: a.toml:10:1: servers.own.{key}: a text with a NUL character"
