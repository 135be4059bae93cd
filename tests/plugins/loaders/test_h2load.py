"""h2load's log, and clients that end before the load does."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchforge_loaders.h2load.h2load import Log
from front_door import Bench, needed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from suite_texts.files import suite_text

from benchforge.errors import OutputDamaged
from benchforge.parts.registry import Registry
from benchforge.plugin import Finished, Loader, Output, Reading, Request, Target

BEGAN_US = 1_795_761_720_502_839
NEVER_SENT = "0\t-1\t2456461615"
APP = """async def app(scope, receive, send):
    head = [(b"content-type", b"text/plain"), (b"content-length", b"3")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": b"ok."})
"""


def read(folder: Path, seconds: int, clients: Sequence[Sequence[int]], streams: int = 1) -> Reading:
    """Return the reading of a load: of each client, the lengths of its responses in µs."""
    lines = []
    for lengths in clients:
        clock = BEGAN_US
        for length in lengths:
            lines.append(f"{clock}\t200\t{length}\n")
            clock += length
    (folder / "h2load-load.tsv").write_text("".join(lines))
    done = len(lines)
    # One that lasts has a request under way at the end.
    spans = [(len(client), sum(client), client[0]) for client in clients]
    lives = [seconds if span + first > seconds * 1e6 else span / 1e6 for _, span, first in spans]
    total = sum(span[0] / life for span, life in zip(spans, lives, strict=True)) / len(clients)
    (folder / "stdout.txt").write_text(
        f"finished in {seconds:.2f}s, {done / seconds:.2f} req/s, 9.11KB/s\n"
        f"requests: {done} total, {done} started, {done} done, {done} succeeded, 0 failed, "
        f"0 errored, 0 timeout\nstatus codes: {done} 2xx, 0 3xx, 0 4xx, 0 5xx\n"
        "traffic: 1KB (1000) total, 500B (500) headers (space savings 0.00%), 300B (300) data\n"
        f"req/s           :       1.00        9.00      {total:.2f}        0.00    60.00%\n"
    )
    options = {"connections": len(clients), "duration": seconds, "streams": streams}
    part = Registry().part("loader", "h2load").model_validate(options)
    assert isinstance(part, Loader)
    shutil.copy(folder / "stdout.txt", folder / "stderr.txt")
    finished = Finished(0, folder / "stdout.txt", folder / "stderr.txt", 1.0, 0.0, 0.0)
    target = Target("http://127.0.0.1:80/", Request(path="/"), folder, {}, Path(sys.executable))
    return part.read(Output(target, (finished,)))


# The log


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (f"{BEGAN_US}\t200\t1276", (1, 0, 0)),
        (f"{BEGAN_US}\t404\t1276", (1, 1, 0)),
        (f"{BEGAN_US}\t999\t1276", (1, 1, 0)),
        (f"{BEGAN_US}\t0\t1276", (1, 0, 0)),  # a status line without a reason
        (f"{BEGAN_US}\t-1\t1276", (0, 0, 1)),
        (NEVER_SENT, (0, 0, 1)),
        ("0\t-1\t0", (0, 0, 1)),
    ],
)
def test_a_line_is_a_response_or_a_failed_request(line: str, counts: tuple[int, int, int]) -> None:
    log = Log.from_text(f"{line}\n")
    assert (log.complete, log.bad, log.failed) == counts


@pytest.mark.parametrize(
    "line",
    ["0\t200\t12", "0\t-1", "0\t-1\tx", "1\t-1\t1", f"{BEGAN_US}\t-2\t1", f"{BEGAN_US}\t20\t1"],
)
def test_any_other_line_is_refused_by_its_number(line: str) -> None:
    with pytest.raises(ValueError, match="line 2 is no line of a request"):
        Log.from_text(f"{NEVER_SENT}\n{line}\n")


@given(st.lists(st.one_of(st.just(NEVER_SENT), st.sampled_from([-1, 0, 200, 302, 404, 503]))))
def test_each_line_is_counted_once(lines: list[str | int]) -> None:
    text = [line if isinstance(line, str) else f"{BEGAN_US}\t{line}\t7" for line in lines]
    log = Log.from_text("".join(f"{line}\n" for line in text))
    assert log.complete + log.failed == len(lines)
    assert log.failed == len([line for line in lines if line in {NEVER_SENT, -1}])
    assert log.bad == len([line for line in lines if line in {404, 503}])
    assert len(log.spans) == len([line for line in lines if line != NEVER_SENT])


# Clients that end


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    seconds=st.integers(1, 3),
    lasting=st.integers(0, 4),
    ends=st.lists(st.integers(1, 90), max_size=4),
    length_ms=st.integers(5, 20),
)
def test_a_load_is_read_if_and_only_if_its_clients_last(
    tmp_path: Path, seconds: int, lasting: int, ends: list[int], length_ms: int
) -> None:
    number = int(seconds * 1000 / length_ms)
    short = [max(1, number * end // 100) for end in ends]
    clients = [[length_ms * 1000] * count for count in [number] * lasting + short]
    if not short:
        assert not clients or read(tmp_path, seconds, clients).errors["silent"] == 0
        return
    with pytest.raises(OutputDamaged, match=r"clients ended before the load did") as refused:
        read(tmp_path, seconds, clients)
    assert refused.value.about == "behaviour"
    assert "keep_alive_max_requests = " in refused.value.hint


def test_the_refusal_names_clients_and_time(tmp_path: Path) -> None:
    with pytest.raises(OutputDamaged) as refused:
        read(tmp_path, 2, [[10_000] * 200, [10_000] * 50, [10_000] * 50])
    assert str(refused.value) == (
        "h2load: at least 2 of 3 clients ended before the load did, the first 500 ms into its 2 s: "
        "150 responses/s depend on its length; clients that lasted had 300"
    )
    with pytest.raises(OutputDamaged, match=r"h2load: all 2 clients ended .* 40 responses/s"):
        read(tmp_path, 2, [[10_000] * 40, [10_000] * 40])


def test_hypercorn_is_measured_where_it_keeps_its_connections(bench: Bench, tmp_path: Path) -> None:
    needed("h2load")
    (tmp_path / "pong.py").write_text(APP)
    (tmp_path / "suite.toml").write_text(suite_text("plugins/loaders/h2load"))
    ran = bench("run", "suite.toml", "-o", "results")
    files = tmp_path.glob("results/*/trials/*/trial.json")
    trials = [json.loads(file.read_text()) for file in files]
    by_case = {(trial["case"]["server"], trial["case"]["driver"]): trial for trial in trials}
    assert len(trials) == len(by_case) == 3, ran.all  # what the server did is not tried again
    failure = by_case["short", "h2c"]["failure"]
    assert (failure["stage"], failure["subject"]) == ("read", "behaviour"), ran.all
    assert "h2load: all 2 clients ended before the load did" in failure["message"]
    assert "keep_alive_max_requests = 1000000000" in failure["hint"]
    del by_case["short", "h2c"]
    for trial in by_case.values():  # over HTTP/1.1 hypercorn tells no reason
        assert trial["failure"] is None, ran.all
        assert trial["reading"]["good_at_least"] == trial["reading"]["responses"] > 0
