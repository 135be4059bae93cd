"""The stream of a mix from the server's side: what a real server got is what was rendered.

Servers that take turns get the same requests, each from the first one on.
"""

import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from front_door import Bench, needed, needed_tool
from measured.case import cases, trial_of
from measured.on_disk import trials_of
from present import present
from suite_texts.files import suite_text

from benchforge.checks.answers.counted import shares as of_mix
from benchforge.checks.limits import limits
from benchforge.model.files.folder import read_trials
from benchforge.model.trial.trial import Trial
from benchforge.suite.cases.case import Case

# Loader, connections, and processes or threads.
LOADERS = [
    ('use = "pace"\nconnections = 1', 1, 1),
    ('use = "pace"\nconnections = 6\nprocesses = 2', 6, 2),
    ('use = "pace"\nconnections = 50\nrate = "500/s"', 50, 1),
    ('use = "wrk"\nconnections = 1', 1, 1),
    ('use = "wrk"\nconnections = 9\nthreads = 3', 9, 3),
    ('use = "locust"\nusers = 1', 1, 1),
    ('use = "locust"\nusers = 1\nuser = "http"', 1, 1),
    ('use = "locust"\nusers = 6\nworkers = 2', 6, 2),
]
# Those of no package.
RECORDED = [
    ('use = "wrk2"\nconnections = 1\nrate = "200/s"', 1, 1),
    ('use = "wrk2"\nconnections = 9\nthreads = 3\nrate = "300/s"', 9, 3),
    ('use = "k6"\nusers = 1', 1, 1),
    ('use = "k6"\nusers = 6', 6, 1),
    ('use = "k6"\nusers = 50\nrate = "300/s"', 50, 1),
]


def suite(folder: Path, loader: str) -> Path:
    path = folder / "mix.toml"
    path.write_text(suite_text("run/mix/sent", folder=folder, loader=loader))
    return path


def arrived(folder: Path, trial: Trial) -> dict[int, list[tuple[str, str]]]:
    """Return head and body of each request that is of no probe, by connection, in their order."""
    probes = {
        (f"{kind.request.method} {kind.request.path}", kind.request.body or "")
        for kind in present(trial.stream).kinds.values()
    }
    entries: dict[int, list[tuple[str, str]]] = {}
    for line in (folder / "requests.log").read_text().splitlines():
        connection, head, body = json.loads(line)
        first = head.partition(" HTTP/1.1\r\n")[0]
        if (first, body) not in probes and "/benchforge-asks-" not in first:
            entries.setdefault(connection, []).append((head, body))
    return entries


def rendered(case: Case, trial: Trial) -> list[list[tuple[str, str]]]:
    """Return the requests that each process or thread says it took."""
    records = [
        (record.head.decode(), record.body.decode())
        for record in islice(present(case.workload).records(0, 1), present(trial.stream).records)
    ]
    taken = present(trial.reading).records_taken
    of_parts = [records[part :: len(taken)] for part in range(len(taken))]
    return [list(islice(of_part * 9, taken[part])) for part, of_part in enumerate(of_parts)]


def required(item: tuple[str, str], sent: list[list[tuple[str, str]]]) -> tuple[str, str]:
    """Return the record with the first line, the body and all headers of a request, or itself."""
    lines = {line.lower() for line in item[0].splitlines()[1:]}
    first = item[0].partition("\r\n")[0]
    for head, body in (record for part in sent for record in part):
        start, *wanted = head.splitlines()
        if (start, body) == (first, item[1]) and {line.lower() for line in wanted} <= lines:
            return head, body
    return item


@pytest.mark.samples(4)
@pytest.mark.parametrize(("loader", "connections", "parts"), LOADERS)
def test_the_stream_and_no_more(tmp_path: Path, loader: str, connections: int, parts: int) -> None:
    if "wrk" in loader:
        needed("wrk")
    sent_are_those_of_the_stream(tmp_path, loader, connections, parts)


@pytest.mark.parametrize(("loader", "connections", "parts"), RECORDED)
def test_the_stream_by_k6_wrk2(tmp_path: Path, loader: str, connections: int, parts: int) -> None:
    needed_tool(loader)
    sent_are_those_of_the_stream(tmp_path, loader, connections, parts)


def sent_are_those_of_the_stream(tmp_path: Path, loader: str, connections: int, parts: int) -> None:
    (case,) = cases(suite(tmp_path, loader))
    trial = trial_of(case, tmp_path)
    assert trial.failure is None, trial.failure
    if trial.reading is not None and trial.reading.kinds:
        of_kinds = [kind.responses for kind in trial.reading.kinds.values()]
        assert sum(of_kinds) == trial.reading.responses
        assert all(of_kinds[:2])
    by_connection, sent = arrived(tmp_path, trial), rendered(case, trial)
    assert len(sent) == parts
    if "locust" in loader or "k6" in loader:
        # Their clients add headers, and write others another way.
        by_connection = {
            number: [required(item, sent) for item in mine]
            for number, mine in by_connection.items()
        }
    all_sent = Counter(item for part in sent for item in part)
    all_arrived = Counter(item for value in by_connection.values() for item in value)
    assert all_arrived.total() > 50
    assert not all_arrived - all_sent, "the server got requests that are not of the stream"
    lost = all_sent - all_arrived
    assert lost.total() <= connections, "more requests are lost than were under way at the end"
    path = {item: number for part in sent for number, item in enumerate(part)}
    for value in by_connection.values():
        places = [path[item] for item in value]
        assert places == sorted(places), "another order on a connection"
    if connections == 1:
        (value,) = by_connection.values()
        assert value == sent[0][: len(value)], "another order"


def test_h2load_sends_the_paths_of_the_stream(bench: Bench, tmp_path: Path) -> None:
    needed("h2load")
    path = tmp_path / "mix.toml"
    path.write_text(suite_text("run/mix/mix_by_h2load", folder=tmp_path))
    ran = bench("run", "--details", path, "--set", "repeat.seed=0", code=0)
    by_tool = {trial["case"]["driver"]: trial for trial in trials_of(ran.result)}
    outcomes = {
        tool: {check["id"]: check["status"] for check in trial["checks"] if check["id"] in "R1 R2"}
        for tool, trial in by_tool.items()
    }
    right = {"R1": "pass", "R2": "pass"}
    assert outcomes == {"load": {"R1": "unknown", "R2": "warn"}, "other": right}
    assert by_tool["load"]["reading"]["good_at_least"] > 0
    text = " ".join(ran.out.split())
    assert "the load tool does not report which requests it sent" in text, text
    workload = present(cases(path)[0].workload)
    records = islice(workload.records(0, 1), by_tool["load"]["stream"]["records"])
    wanted = [record.head.decode().partition("\r\n")[0] for record in records]
    sent: dict[int, list[str]] = {}
    for line in (tmp_path / "requests.log").read_text().splitlines():
        connection, head, _ = json.loads(line)
        if "user-agent: h2load" in head.lower():
            assert "accept: text/plain" in head.lower()
            sent.setdefault(connection, []).append(head.partition("\r\n")[0])
    assert len(sent) == 3
    assert all(value == wanted[: len(value)] for value in sent.values()), "another order"
    assert min(len(value) for value in sent.values()) > 10
    bench("verify", ran.result, code=0)


# --- in turns ------------------------------------------------------------------------------------


def heads(log: Path) -> list[str]:
    """Return the first lines of the requests that a server got after its probes."""
    lines = [json.loads(line)[1].partition(" HTTP/1.1")[0] for line in log.read_text().splitlines()]
    return [line for line in lines if "/benchforge-asks-" not in line]


def ran(bench: Bench, path: Path) -> tuple[str, Path]:
    """Return what a run printed, and its result. A machine may be too loud: five tries."""
    for _ in range(5):
        for label in ("north", "south"):
            (path.parent / f"{label}.log").unlink(missing_ok=True)
        call = bench("run", "--details", path, "-o", "results")
        result = max((path.parent / "results").iterdir())
        if [trial.failure for trial in read_trials(result)] == [None] * 2:
            return call.out, result
    pytest.fail("no slice had enough requests")


def test_each_server_gets_the_requests_from_the_first_on(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "mix.toml"
    path.write_text(suite_text("run/mix/mix_in_turns", folder=tmp_path))
    output, result = ran(bench, path)
    workload = present(cases(path)[0].workload)
    digests = set()
    for trial in read_trials(result):
        reading, turns, stream = present(trial.reading), present(trial.turns), present(trial.stream)
        digests.add(stream.sha256)
        kinds = reading.kinds
        assert turns.responses == reading.responses
        assert sum(value.responses for value in kinds.values()) == reading.responses
        assert {value.seconds for value in kinds.values()} == {turns.seconds}
        assert all(value.latency is None for value in kinds.values())
        outcomes = {check.id: check.status for check in of_mix(trial, limits())}
        assert outcomes == {"R1": "pass", "R2": "pass"}
        (taken,) = reading.records_taken
        records = islice(workload.records(7, 1), taken)
        sent = [record.head.decode().partition(" HTTP/1.1")[0] for record in records]
        got = heads(tmp_path / f"{trial.case.server}.log")
        # Behind them there are the probes of both kinds, before them slices that do not count, of
        # which each may have sent the same.
        ends = range(len(sent), len(got) + 1)
        *_, end = [index for index in ends if got[index - len(sent) : index] == sent]
        probes = {f"GET {kind.request.path}" for kind in stream.kinds.values()}
        assert set(got[end:]) == probes
    assert len(digests) == 1
    assert "in turns" in output
    assert "alike" in output
    bench("verify", result, code=0)
