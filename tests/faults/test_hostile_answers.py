"""A server that answers so as to hurt: each question has a deadline and a size for all of it."""

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, needed_module
from serving.certificate import pair
from serving.faulty import came, serving
from suite_texts.files import suite_text

from benchforge.model.trial.answers.answer import Answer, Expect, body_difference, difference
from benchforge.run.http import bounded, connect

ENDLESS = "its answer has no end within 10 s"
# What is told of each way of programs/faulty_servers/hostile.py; a status stands for an answer.
TOLD = {
    "/silence": "no answer within 10 s",
    "/status-drips": ENDLESS,
    "/continue-drips": ENDLESS,
    "/continue-floods": "its answer is longer than 72 MiB",
    "/header-drips": ENDLESS,
    "/header-floods": "LineTooLong: got more than 65536 bytes when reading header line",
    "/headers-flood": "got more than 100 headers",
    "/headers-fill": "its headers are longer than 65536 bytes",
    "/body-drips": ENDLESS,
    "/events-drip": ENDLESS,
    "/chunks-drip": ENDLESS,
    "/trailers-drip": ENDLESS,
    "/trailers-flood": "its answer is longer than 72 MiB",
    "/body-floods": "the body is longer than 67108864 bytes",
    "/chunks-flood": "its answer is longer than 72 MiB",
    "/chunk-below-zero": "not HTTP: read length must be non-negative or -1",
    "/chunk-of-words": "the body ends after 0 of more bytes",
    "/chunk-huge": "the body ends after 0 of more bytes",
    "/length-too-long": "the body ends after 4 of 9 bytes",
    "/length-huge": "200 of 4",
    "/length-twice": "200 of 4",
    "/ends-in-mid-answer": "its headers end before they are whole",
    "/not-http": "BadStatusLine",
    "/elsewhere": "302 of 0",
    "/bomb": "200 of 8175",  # as it came: nothing unpacks it
    "/deep": "200 of 100000",
    "/right": "200 of 4",
}
FLOODS = [way for way in TOLD if "flood" in way]
# One flood to its usual bound takes enough of the CPU: the others are bounded sooner.
AT_LENGTH = [way for way in TOLD if way not in FLOODS or way == "/body-floods"]
# What is long is bounded by both, and a loud machine is slow.
EITHER = {"/body-floods", "/headers-fill"}


def all_told(
    root: str, ca_file: Path | None = None, ways: Sequence[str] = tuple(TOLD)
) -> dict[str, str]:
    """Ask for these ways at once: the ten seconds of all of them are the same."""

    def told(path: str) -> str:
        return came(root, ca_file, path=path)

    with ThreadPoolExecutor(len(ways)) as threads:
        return dict(zip(ways, threads.map(told, ways), strict=True))


def as_expected(path: str, expected: str) -> bool:
    return expected.startswith(TOLD[path]) or (path in EITHER and expected == ENDLESS)


def test_every_answer_has_an_end() -> None:
    with serving("hostile") as port:
        messages = all_told(f"http://127.0.0.1:{port}", ways=AT_LENGTH)
    assert {path: item for path, item in messages.items() if not as_expected(path, item)} == {}


def test_every_flood_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is bounded where it began: by a few MiB instead of 72, since each takes as long."""
    assert (connect.LARGEST_ANSWER, bounded.LARGEST_BODY) == (72 << 20, 64 << 20)
    monkeypatch.setattr(connect, "LARGEST_ANSWER", 2 << 20)
    monkeypatch.setattr(bounded, "LARGEST_BODY", 1 << 20)
    with serving("hostile") as port:
        messages = all_told(f"http://127.0.0.1:{port}", ways=FLOODS)
    assert messages == {
        "/continue-floods": "its answer is longer than 2 MiB",
        "/header-floods": TOLD["/header-floods"],
        "/headers-flood": TOLD["/headers-flood"],
        "/trailers-flood": "its answer is longer than 2 MiB",
        "/body-floods": "the body is longer than 1048576 bytes",
        "/chunks-flood": "its answer is longer than 2 MiB",
    }


def test_every_answer_over_tls_has_an_end(tmp_path: Path) -> None:
    public, both = pair(tmp_path)
    with serving("hostile", both) as port:
        messages = all_told(f"https://127.0.0.1:{port}", public, AT_LENGTH)
    assert {path: item for path, item in messages.items() if not as_expected(path, item)} == {}


def test_every_handshake_has_an_end() -> None:
    def told(way: str) -> str:
        with serving("hostile", way) as port:
            return came(f"https://127.0.0.1:{port}")

    with ThreadPoolExecutor(3) as threads:
        silence, drips, floods = threads.map(told, ("silence", "drips", "floods"))
    assert silence == drips == "no answer within 10 s"
    assert floods in {"its answer is longer than 72 MiB", "no answer within 10 s"}


def test_a_trial_ends_whatever_is_answered(bench: Bench, tmp_path: Path) -> None:
    """By the command: a drip is the trial's reason, and the next server is measured."""
    needed_module("benchforge_loaders")
    path = tmp_path / "suite.toml"
    command = [sys.executable, str(PROGRAMS / "faulty_servers/hostile.py"), "{port}"]
    path.write_text(suite_text("faults/hostile_answers", command=command))
    call = bench("run", path, code=4)
    assert f"not ready within 9 s: {ENDLESS}" in call.all
    assert "expected JSON, got '[[[" in call.all


def test_a_long_difference_is_found_and_told_shortly() -> None:
    long = b"x" * (64 << 20)
    actual = body_difference(long, long[:-1] + b"y") or ""
    assert actual.startswith(f"the body differs from byte {len(long) - 1} on: expected 'x'")
    answer = Answer(status=200, headers={}, length=0, sha256="", seconds=0.0)
    chosen = json.dumps({"a": "y" * 1_000_000}).encode()
    actual = difference(Expect.model_validate({"json": {"a": 1}}), answer, chosen) or ""
    assert len(actual) < 200, actual
