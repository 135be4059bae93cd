"""A mix for servers that take turns: each gets the same requests, from the first one on."""

import json
from itertools import islice
from pathlib import Path

import pytest
from front_door import Bench
from measured.case import cases
from present import present
from suite_texts.files import suite_text

from benchforge.checks.answers.counted import shares as of_mix
from benchforge.checks.limits import limits
from benchforge.model.files.folder import read_trials

SERVERS = ("north", "south")


def heads(log: Path) -> list[str]:
    """Return the first lines of the requests that a server got after its probes."""
    lines = [json.loads(line)[1].partition(" HTTP/1.1")[0] for line in log.read_text().splitlines()]
    return [line for line in lines if "/benchforge-asks-" not in line]


def ran(bench: Bench, path: Path) -> tuple[str, Path]:
    """Return what a run printed, and its result. A machine may be too loud: five tries."""
    for _ in range(5):
        for label in SERVERS:
            (path.parent / f"{label}.log").unlink(missing_ok=True)
        call = bench("run", "--details", path, "-o", "results")
        result = max((path.parent / "results").iterdir())
        if [trial.failure for trial in read_trials(result)] == [None] * len(SERVERS):
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
