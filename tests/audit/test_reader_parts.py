"""Readers as parts: the contract of each."""

from pathlib import Path

import pytest
from front_door import Bench
from load import printers
from load.queues import Setup, simulate

from benchforge.cli.plugins.examination.examine import examine
from benchforge.cli.plugins.examination.inputs import OUT, Recording
from benchforge.parts.reader import Reader, Source
from benchforge.parts.registry import Registry


@pytest.mark.parametrize("tool", ["wrk", "bombardier", "locust", "wrk2", "vegeta"])
def test_a_reader_keeps_the_contract(tool: str) -> None:
    rate = 100.0 if tool in printers.OPEN else None
    text = {**printers.CLOSED, **printers.OPEN}[tool](simulate(Setup(rate=rate, duration_s=0.3)))
    recording = Recording("printed", {}, 0, "/", {OUT: text.encode()})
    examined = examine(Registry().part("reader", tool), recordings=[recording])
    assert not examined.findings
    (rows,) = examined.readings
    assert rows.damages > 50
    assert any("mean" in line for line in rows.lines)


def test_a_reader_that_crashes_has_defects() -> None:
    class Careless(Reader):
        """Reads a number."""

        name = "careless"

        def claims(self, head: str) -> bool:
            return True

        def rows(self, source: Source):  # type: ignore[no-untyped-def] # noqa: ANN202
            raise KeyError(source.text()[:1])

    examined = examine(Careless, recordings=[Recording("printed", {}, 0, "/", {OUT: b"1\n"})])
    assert examined.defects == ["printed: stdout.txt: rows() crashes: KeyError: '1'"]


def test_plugins_check_reads_rows(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "ab.txt").write_text(printers.ab(simulate(Setup())))
    done = bench("plugins", "check", "reader-ab", "--output", "ab.txt", code=0)
    assert "ways: " in done.out
    assert "requests " in done.out
    other = bench("plugins", "check", "reader-wrk", "--output", "ab.txt", code=4)
    assert "no reading: no rows" in other.out
