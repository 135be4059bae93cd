"""ab: its command, and what it printed in real runs, whole and damaged."""

import shutil
from collections.abc import Callable
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
# Of the recording `mixed`: the lines without which its counts mean nothing.
COUNTED_ON = [
    *("Server Software", "Document Length", "Concurrency Level", "Time taken for tests"),
    *("Complete requests", "Failed requests", "   (Connect", "Keep-Alive requests"),
    *("Total transferred", "HTML transferred", "Requests per second", "Time per request"),
    *("Transfer rate", "Connect:", "Processing:", "Waiting:", "Total:", " 100%"),
]


TOOL = "ab"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with what the run against a mixed server left, to be damaged."""
    return copied(TOOL, "mixed", tmp_path)


def edit(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text()
    path.write_text(change(text))
    assert path.read_text() != text


# The command


def test_the_bound_of_requests_stands_after_the_time(tmp_path: Path) -> None:
    (command,) = Ab(connections=50).commands(target(tmp_path))
    assert command.argv == (
        *("/bin/ab", "-q", "-k", "-s", "30", "-e", str(tmp_path / "percentiles-load.csv")),
        *("-t", "10", "-n", "10000000", "-c", "50", "http://127.0.0.1:8080/agents?page=2"),
    )


def test_a_number_of_requests_goes_without_a_time(tmp_path: Path) -> None:
    part = Ab.model_validate({"requests": 500, "keep_alive": False, "variable_length": True})
    (command,) = part.commands(target(tmp_path))
    assert command.argv[1:4] == ("-q", "-l", "-s")
    assert command.argv[-5:-1] == ("-n", "500", "-c", "10")
    assert "-t" not in command.argv


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
    assert reading.good == reading.responses > 1000
    assert 1 <= reading.seconds < 1.1
    assert set(reading.errors.values()) == {0}
    assert (reading.unanswered, reading.overlapping_errors, reading.document_bytes) == (
        0,
        False,
        14,
    )
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


def test_errors_by_status_alone_are_exact() -> None:
    broken, unavailable = read(TOOL, "broken"), read(TOOL, "unavailable")
    assert broken.good == 0
    assert broken.errors["status"] == broken.responses
    assert unavailable.good == unavailable.responses - unavailable.errors["status"]
    assert not unavailable.overlapping_errors


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


def test_replies_without_a_byte_are_no_responses() -> None:
    reading = read(TOOL, "empty")
    assert (reading.responses, reading.good, reading.received_bytes) == (0, 0, 0)
    assert reading.errors["empty"] == reading.unanswered
    assert recording(TOOL, "empty")["accepted"] == reading.errors["empty"] + 1
    assert reading.percentiles_us is None


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


def test_a_single_request_has_a_report_too() -> None:
    reading = read(TOOL, "one")
    assert (reading.responses, reading.good, reading.connections) == (1, 1, 1)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("refused", "connection refused after 0 requests"),
        ("hang", "no answer within 1 s after 0 requests"),
        ("reset", r"the server reset a connection after \d+ requests"),
        ("closes", "the server reset a connection"),
        ("server-killed", r"reset a connection after [1-9]\d+ requests"),
        ("interrupted", "exit code 1"),
    ],
)
def test_a_run_without_a_report_says_why(name: str, says: str) -> None:
    with pytest.raises(OutputDamaged, match=f"ab: .*{says}"):
        read(TOOL, name)


def test_usage_and_signals_are_told(files: Path) -> None:
    (files / "stderr.txt").write_text("ab: invalid URL\nUsage: ab [options]\n  -k\n")
    with pytest.raises(OutputDamaged, match=r"ab: ab: invalid URL$"):
        read(TOOL, "mixed", files, code=22)
    with pytest.raises(OutputDamaged, match="ended by signal 9"):
        read(TOOL, "mixed", files, code=-9)


# Damage


def test_without_percentiles_nothing_is_read(files: Path) -> None:
    (files / "percentiles-load.csv").unlink()
    with pytest.raises(OutputDamaged, match="did not write it"):
        read(TOOL, "mixed", files)


@pytest.mark.parametrize("start", COUNTED_ON)
def test_without_a_line_that_is_counted_on_nothing_is_read(files: Path, start: str) -> None:
    edit(
        files / "stdout.txt",
        lambda text: "".join(
            line for line in text.splitlines(keepends=True) if not line.startswith(start)
        ),
    )
    with pytest.raises(OutputDamaged, match=start.strip(" (:")):
        read(TOOL, "mixed", files)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Requests per second:    4", "Requests per second:    9", "is not"),
        ("Complete requests:      4", "Complete requests:      5", "is not"),
        ("Complete requests:      4", "Complete requests:      x", "not what ab prints"),
        ("Concurrency Level:      10", "Concurrency Level:      11", "asked were 10"),
        ("Failed requests:        20992", "Failed requests:        20991", "more than those"),
        ("Keep-Alive requests:    4", "Keep-Alive requests:    94", "cannot be"),
        ("Document Length:        6", "Document Length:        -6", "not what ab prints"),
        ("(be patient)", "(be patient)\nComplete requests: 1", "more than one line"),
    ],
)
def test_numbers_that_do_not_agree_are_refused(files: Path, old: str, new: str, says: str) -> None:
    edit(files / "stdout.txt", lambda text: text.replace(old, new))
    with pytest.raises(OutputDamaged, match=says):
        read(TOOL, "mixed", files)


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
