"""Slips of units and of ports: what a table shows whose unit is not that of its title."""

from pathlib import Path

import pytest
from front_door import Bench
from hypothesis import given
from hypothesis import strategies as st

from benchforge.cli.results.audit.facts import byte_slip, time_slip

COLUMNS = ("--column", "name=fw", "--column", "rate=rps:1/s")


def written(folder: Path, titles: str, *rows: str) -> None:
    (folder / "table.csv").write_text("\n".join([titles, *rows]))


@pytest.mark.parametrize(
    ("unit", "says"), [("s", "the times were 1,000 times shorter (ms, not s"), ("ms", "")]
)
def test_milliseconds_that_are_read_as_seconds(
    bench: Bench, tmp_path: Path, unit: str, says: str
) -> None:
    # 64 connections that are always busy: mean = 64 / rate.
    written(tmp_path, "fw,rps,avg", *[f"f{n},{1000 * n},{64 / n:.3f}" for n in range(1, 8)])
    words = ("--column", f"mean=avg:{unit}", "--connections", "64", "--all")
    done = bench("audit", "table.csv", *COLUMNS, *words, code=1 if says else 0)
    assert says in " ".join(done.out.split())
    assert ("false field: the times are in another unit [AX3]" in done.out) == bool(says)
    assert "[AL1]" not in done.out


def test_a_row_alone_says_which_unit_would_fit(bench: Bench, tmp_path: Path) -> None:
    written(tmp_path, "fw,rps,avg", "a,6400,10")
    words = ("--column", "mean=avg:s", "--connections", "64", "--pipeline", "1")
    done = bench("audit", "table.csv", *COLUMNS, *words)
    assert "impossible: more requests were under way" in done.out
    assert "or the times were 1,000 times shorter (ms, not s" in " ".join(done.out.split())


@pytest.mark.parametrize(("scale", "actual"), [(8, True), (1, False), (4, False), (20, False)])
def test_bits_that_are_read_as_bytes(
    bench: Bench, tmp_path: Path, scale: int, *, actual: bool
) -> None:
    rows = (f"f{n},{100 * n},{100 * n * 5150 * scale}" for n in (1, 2, 3))
    written(tmp_path, "fw,rps,bps", *rows)
    words = ("--column", "byte_rate=bps:B/s", "--body", "5000")
    done = bench("audit", "table.csv", *COLUMNS, *words)
    assert ("[AX4]" in done.out) == actual, done.out
    assert ("True if these were bits, not bytes." in done.out) == actual


def test_a_client_has_64512_ports(bench: Bench, tmp_path: Path) -> None:
    written(tmp_path, "fw,rps,conns,time", "few,9000,90000,60", "many,90000,900000,60")
    words = ("--column", "connects=conns", "--column", "duration=time:s")
    done = bench("audit", "table.csv", *COLUMNS, *words, code=0)
    assert "unsupported: more connections were opened than one address has ports" in done.out
    assert "  many, line 3" in done.out
    assert "  few, " not in done.out
    assert "or the load came from 7 addresses" in " ".join(done.out.split())


@given(st.floats(0.5, 1.1), st.sampled_from((1e3, 1e6, 1e9)))
def test_a_share_of_another_unit_is_named_and_others_are_not(share: float, factor: float) -> None:
    assert "shorter" in time_slip(share * factor)
    assert "longer" in time_slip(share / factor)
    assert not time_slip(share)
    assert not time_slip(share * 30)


def test_only_factors_of_units_are_named() -> None:
    assert "bits" in byte_slip(8.05)
    assert "1,024" in byte_slip(1.0486)
    assert not byte_slip(3.0)
    assert not byte_slip(1.0)
