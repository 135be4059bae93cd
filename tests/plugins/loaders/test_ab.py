"""ab: its command, and what it printed in real runs, whole and damaged."""

import shutil
from pathlib import Path

import pytest
from benchforge_loaders.ab.ab import Ab, percentiles_us
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from present import present
from recorded.tools import RECORDINGS, copied, read, recording, target

from benchforge.parts.site import BODY
from benchforge.plugin import OutputDamaged, Request

READABLE = [
    *("broken", "empty", "few", "half", "halves", "healthy", "mixed", "one", "requests"),
    *("requests-half", "slow", "stalls", "unavailable", "variable", "variable-allowed"),
    "without-keep-alive",
]


TOOL = "ab"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with what the run against a mixed server left, to be damaged."""
    return copied(TOOL, "mixed", tmp_path)


# The command


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(method="HEAD"), ["-i"]),
        (Request(method="DELETE"), ["-m", "DELETE"]),
        (Request(method="POST"), ["-m", "POST"]),
        (Request(method="POST", body="x"), ["-p", "BODY", "-T", "text/plain"]),
        (
            Request(method="PUT", body="{}", headers={"content-type": "a/b", "X-A": "1"}),
            ["-p", "BODY", "-T", "a/b", "-m", "PUT", "-H", "X-A: 1"],
        ),
        (Request(headers={"Content-Type": "a/b"}), ["-H", "Content-Type: a/b"]),
    ],
)
def test_methods_bodies_and_headers(tmp_path: Path, request_: Request, words: list[str]) -> None:
    entries = target(tmp_path, request_)
    (command,) = Ab().commands(entries)
    second = command.argv[command.argv.index("-c") + 2 : -1]
    assert list(second) == [str(tmp_path / BODY) if word == "BODY" else word for word in words]
    assert Ab().files(entries) == ({BODY: request_.body} if request_.body else {})


def test_the_warm_up_is_timed_even_for_a_number_of_requests() -> None:
    warm = Ab.model_validate({"requests": 5000, "connections": 3}).for_warm_up(2.5)
    assert (warm.requests, warm.declared_s(), warm.connections) == (None, 3.0, 3)
    assert Ab.model_validate({"requests": 5000}).declared_s() == 5.0
    assert Ab().declared_s() == 10.0


# Real runs


def test_a_healthy_run() -> None:
    reading = read(TOOL, "healthy")
    assert 1 <= reading.seconds < 1.1
    assert reading.document_bytes == 14
    assert (reading.server_software, reading.latency_samples) == ("faults/1", reading.responses)
    assert list(present(reading.percentiles_us)) == [str(percent) for percent in range(101)]
    # What ab calls a mean is no mean of what it measured: a claim only.
    assert reading.mean_us is None
    assert reading.printed["keep_alive_requests"] == reading.responses
    assert reading.printed["time_per_request_ms"] == pytest.approx(
        10 * reading.seconds * 1000 / reading.responses, abs=0.001
    )


@pytest.mark.parametrize("name", READABLE)
def test_connections_are_those_that_the_server_accepted(name: str) -> None:
    reading = read(TOOL, name)
    unsure = {"empty", "requests-half"}
    assert reading.connections == (None if name in unsure else recording(TOOL, name)["accepted"])


def test_errors_that_overlap_give_bounds() -> None:
    reading = read(TOOL, "mixed")
    assert reading.overlapping_errors
    assert reading.good is None
    assert reading.good_at_least == 0
    assert reading.good_at_most == reading.responses - reading.errors["status"]


def test_pages_of_varying_length_are_doubt_and_no_errors() -> None:
    reading = read(TOOL, "variable")
    assert reading.errors["length"] > reading.responses / 2
    assert reading.good_at_most == reading.responses
    assert reading.good_at_least == reading.responses - reading.errors["length"]
    assert "variable_length = true" in reading.bounds
    allowed = read(TOOL, "variable-allowed")
    assert allowed.good == allowed.responses
    assert allowed.document_bytes is None


def test_half_of_every_body_shows_in_the_length_that_ab_took_as_right() -> None:
    assert read(TOOL, "halves").document_bytes == 7


def test_what_ab_reads_past_its_own_times_may_be_anything() -> None:
    rows = [f"{percent},{percent / 10:.3f}" for percent in range(101)]
    rows[99] = "99,-1.2e+300"
    text = "\n".join(["Percentage served,Time in ms", *rows])
    percentiles = percentiles_us(text, 50)
    assert "99" not in percentiles
    assert percentiles["98"] == 9800
    with pytest.raises(ValueError, match="no line of 99 percent"):
        percentiles_us(text, 1000)


def test_lines_that_ab_read_past_its_own_times_are_left_out() -> None:
    percentiles = present(read(TOOL, "few").percentiles_us)
    # 20 requests: 0.5 + 20 * 0.98 is 20, and ab has times 0 to 19.
    assert "97" in percentiles
    assert {"98", "99"}.isdisjoint(percentiles)
    written = (RECORDINGS / TOOL / "few/percentiles-load.csv").read_text()
    with pytest.raises(ValueError, match="do not grow"):
        percentiles_us(written, 10_000)


def test_usage_and_signals_are_told(files: Path) -> None:
    (files / "stderr.txt").write_text("ab: invalid URL\nUsage: ab [options]\n  -k\n")
    with pytest.raises(OutputDamaged, match=r"ab: ab: invalid URL$"):
        read(TOOL, "mixed", files, code=22)
    with pytest.raises(OutputDamaged, match="ended by signal 9"):
        read(TOOL, "mixed", files, code=-9)


# Damage


def test_percentiles_of_another_run_are_refused(files: Path) -> None:
    shutil.copy(RECORDINGS / TOOL / "stalls/percentiles-load.csv", files / "percentiles-load.csv")
    with pytest.raises(OutputDamaged, match="its longest request is not that of the report"):
        read(TOOL, "mixed", files)


def test_a_run_that_was_to_keep_alive_and_did_not_ask_is_refused() -> None:
    with pytest.raises(OutputDamaged, match="a line 'Keep-Alive requests'"):
        read(TOOL, "healthy", keep_alive=False)
    with pytest.raises(OutputDamaged, match="no line 'Keep-Alive requests'"):
        read(TOOL, "without-keep-alive", keep_alive=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_anything_else_is_refused(files: Path, written: bytes) -> None:
    (files / "stdout.txt").write_bytes(written)
    with pytest.raises(OutputDamaged):
        read(TOOL, "mixed", files)
