"""Hosts that send what no host of ours does: each is a line, never a traceback, and none waits."""

import contextlib
import json
import math
import os
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from front_door import WAITS_S, Told, bench_words, calls
from hostile_hosts import CONTROLS, Mutation, Recording, mutated, recorded
from made.plain import reading, trial
from pydantic_core import to_jsonable_python

from benchforge.errors import BenchforgeError, NoAnswer
from benchforge.remote import answers, wire
from benchforge.remote.agent import links
from benchforge.remote.agent.host_trial import HostTrial
from benchforge.remote.agent.place import Place
from benchforge.remote.archive import FileCache
from benchforge.remote.calls import Losses, PipeConnection

Method = Callable[..., Any]
AS_TEXT = CONTROLS.encode("unicode_escape").decode()
PART = answers.HostPartOfTrial(trial=trial(), body=b"right", files=("a.out", "usage.csv"))
SENT: Mapping[Method, Any] = {
    Place.begin: {"address": "10.0.0.1", "code": "c0de", "facts": {"cpu": "x", "cpus": [1, {}]}},
    Place.clock: 12.5,
    FileCache.has: True,
    Place.prepare: {"cases": "c", "versions": {"wrk": "4"}, "digests": {"a": "b"}},
    Place.sink: 4096,
    links.measured: {"bytes_per_s": 1e9, "round_trip_s": 1e-4},
    Place.traffic: {"received": 1, "sent": 2, "dropped": 0},
    Place.enter: {"cpu": "x", "cpus": 2},
    HostTrial.service: {"address": "10.0.0.1", "ports": {"http": 80}}
    | {"gives": {"URL": "x"}, "certificate": None},
    HostTrial.ask: ["server-app", 8000, "", ""],
    HostTrial.read: "no CAP_NET_RAW at host app",
    HostTrial.watch: True,
    HostTrial.load: 13.5,
    HostTrial.captured: {"windows": [["load", 1.0, 1.1, 0.2, [[1.0, "RQAA"]], 0, 0.0]]},
    HostTrial.fetch: {"data": "AAAA", "size": 3},
    HostTrial.leave: to_jsonable_python(PART),
    Place.clear: None,
}
"What an honest host answers to each call."


class Sending:
    """The pipe of a host that sends these lines once it is called, and ends or only beats.

    A deaf one reads nothing.
    """

    def __init__(self, *lines: bytes, beats: bool = False, deaf: bool = False) -> None:
        self._lines, self._beats, self._deaf = list(lines), beats, deaf
        self._called, self._killed = threading.Event(), threading.Event()

    def write(self, content: bytes) -> None:
        if content != b"\n":
            self._called.set()
            if self._deaf and self._killed.wait(WAITS_S):
                raise OSError("its pipe was closed")

    def line(self) -> bytes:
        self._called.wait(WAITS_S)
        if self._lines:
            return self._lines.pop(0)
        return b"\n" if self._beats and not self._killed.wait(0.01) else b""

    def complaint(self) -> str:
        return "it ended"

    def kill(self) -> None:
        self._killed.set()

    def close(self) -> None:
        self._killed.set()


class CutOff(Sending):
    """The pipe of a host that is cut off."""

    writes = 0

    def write(self, content: bytes) -> None:
        self.writes += 1
        raise OSError(content)


def answered(call: Method, pipe: Sending, lasts_s: float = 0.0) -> Any:
    """Return what a connection makes of an answer: a value, or an error."""
    connection, over = PipeConnection("app", pipe, Losses(), ""), threading.Event()
    connection._leased, connection._heard_s = True, time.monotonic()

    def beat() -> None:
        while not over.wait(0.01):
            connection.beat()

    threads = [threading.Thread(target=task, daemon=True) for task in (connection._read, beat)]
    for thread in threads:
        thread.start()
    try:
        return connection.call(call, lasts_s)
    except BenchforgeError as error:
        return error
    finally:
        over.set()
        connection.close()


def line_of(value: Any) -> bytes:
    """Return the line of an answer to the first call."""
    return json.dumps({"kind": "answer", "id": 1, "value": value}).encode() + b"\n"


def test_what_an_honest_host_answers_is_read() -> None:
    for call, value in SENT.items():
        actual = to_jsonable_python(answered(call, Sending(line_of(value))))
        assert actual == value or call.__name__ in {"prepare", "leave"}


def test_any_answer_is_of_its_shape_or_one_error() -> None:
    for number in range(520):
        chance = random.Random(number)
        call, value = chance.choice(list(SENT.items()))
        change, sent = mutated({"kind": "answer", "id": 1, "value": value}, chance)
        lines = sent.replace(b"@ID@", b"1").splitlines(keepends=True)
        error = answered(call, Sending(*lines))
        if isinstance(error, BenchforgeError):
            assert isinstance(error, NoAnswer) or "error: " in change, (number, change)
            assert len(error.message.splitlines()) == 1, (number, change)


BEGUN, LEFT = SENT[Place.begin], SENT[HostTrial.leave]
BUCKETS = {"latency": {"counts": {str(10**14): 5}, "sum_us": 1, "max_us": 1}}
READING = to_jsonable_python(reading())
ATTACKS: tuple[tuple[Method, Any, str], ...] = (
    (Place.begin, BEGUN | {"address": "999.999.999.999"}, "address: "),
    (Place.begin, BEGUN | {"address": "\u0661\u0660.0.0.1"}, "address: "),
    (Place.begin, BEGUN | {"facts": {"cpus": math.inf}}, "facts: "),
    (Place.enter, {"cpu": math.nan}, "value: "),
    (Place.clock, math.nan, "value: "),
    (Place.prepare, {"versions": {"wrk": "4"}}, "has neither cases nor what is missing"),
    (Place.traffic, {"received": 10**400}, "received: "),
    (links.measured, {"bytes_per_s": math.inf, "round_trip_s": 1}, "bytes_per_s: "),
    (HostTrial.captured, {"windows": [["load", math.nan, 1.1, 0.2, [], 0, 0.0]]}, "windows: "),
    (HostTrial.leave, LEFT | {"files": ["a/../../x"]}, "files: 0: "),
    (HostTrial.leave, LEFT | {"files": ["\u202egnp.exe"]}, "files: 0: "),
    (HostTrial.leave, {"started": "0001-01-01T00:00:00Z"}, "trial: started: "),
    (HostTrial.leave, {"reading": READING | {"latency": BUCKETS}}, "counts: "),
)


@pytest.mark.parametrize(("call", "value", "says"), ATTACKS)
def test_a_value_that_does_harm_where_it_is_used_is_refused(
    call: Method, value: Any, says: str
) -> None:
    """A percentile of the last one took 12 GB; a number that is none was stored as null.

    Where neither cases nor what is missing was sent, the run ended as if the suite were at fault.
    """
    if call is HostTrial.leave and "files" not in value:
        value = LEFT | {"trial": LEFT["trial"] | value}
    error = answered(call, Sending(line_of(value)))
    assert isinstance(error, wire.HostFault)
    assert (error.exit_code, says in error.message) == (4, True)


@pytest.mark.parametrize("path", ["kind", "value.address", "value.facts.cpu"])
def test_a_key_that_occurs_twice_is_one_error(path: str) -> None:
    """The last value was taken, and nothing was said."""
    pair = f'("{path.rpartition(".")[2]}": "[^"]*")'.encode()
    error = answered(Place.begin, Sending(re.sub(pair, rb"\1, \1", line_of(BEGUN))))
    assert isinstance(error, wire.HostFault)
    assert (error.exit_code, len(error.message.splitlines())) == (4, 1)
    assert error.message.endswith(f": {path}: occurs twice in its object")


@pytest.mark.parametrize("deaf", [False, True])
def test_a_host_that_beats_and_never_answers_is_lost_when_the_call_is_over(deaf: bool) -> None:
    """Beats showed that it was there, and a call waited for it without end."""
    error = answered(Place.clock, Sending(beats=True, deaf=deaf), 0.1 - answers.ANSWERS_WITHIN_S)
    assert isinstance(error, wire.HostLost)
    assert error.message == "lost host app: it did not answer the call clock within 0.1 s"


def test_a_lost_host_is_noted_by_the_first_write_that_fails_and_not_written_to_again() -> None:
    """Each write waited for its own failure, while the other hosts kept their load."""
    pipe, losses = CutOff(), Losses()
    connection = PipeConnection("app", pipe, losses, "")
    for _ in range(2):
        with pytest.raises(wire.HostLost, match="lost host app: it ended"):
            connection.send(Place.clock)
    assert losses.lost is not None
    assert pipe.writes == 1


def test_the_time_of_a_call_begins_after_those_before_it() -> None:
    connection = PipeConnection("app", Sending(beats=True), Losses(), "")
    first = connection.send(HostTrial.load, 60.0)
    second = connection.send(Place.clock)
    assert second.deadline_s == first.deadline_s + answers.ANSWERS_WITHIN_S


def test_a_link_is_measured_with_whom_it_is_meant_for_only() -> None:
    """Whoever connected first was taken for the other host."""
    port = links.sink("127.0.0.1", "token")
    for sent in (b"nekot", b"", b"x" * 1000):
        stranger = socket.create_connection(("127.0.0.1", port))
        with stranger, contextlib.suppress(OSError):  # it is closed at once
            stranger.sendall(sent)
            stranger.shutdown(socket.SHUT_WR)
            assert stranger.recv(1) == b""
    assert links.measured("127.0.0.1", port, 0.01, "token").bytes_per_s > 0
    with pytest.raises(NoAnswer, match=f"127.0.0.1:{port}: "):
        links.measured("127.0.0.1", port, 0.01, "token")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Record a run on two hosts."""
    return recorded(tmp_path_factory.mktemp("hosts") / "recorded")


def run(
    recording: Recording,
    folder: Path,
    mutation: Mutation | None,
    *words: str,
    code: int | None = None,
) -> Told:
    """Call benchforge with the fake hosts, one of which sends a mutation."""
    recording.plant(mutation)
    (folder / "suite.toml").write_text(recording.suite)
    bench = calls(bench_words(), folder, {**os.environ, **recording.environment})
    return bench(*(words or ("run", "suite.toml")), code=code)


def is_plain(ended: Told) -> None:
    """No character of what was printed does anything to a terminal."""
    assert not [char for char in ended.all if not char.isprintable() and char not in "\n\t\xa0"]


@pytest.mark.samples(3)
@pytest.mark.parametrize("number", range(50))
def test_a_hostile_host_ends_a_run_in_one_error(
    recording: Recording, tmp_path: Path, number: int
) -> None:
    mutation = recording.mutation(number)
    ended = run(recording, tmp_path, mutation)
    is_plain(ended)
    assert ended.code in {0, 3, 4} or mutation.what.startswith("error: "), ended.all
    if ended.code == 4 and "error: hosts." in ended.err and (tmp_path / "results").exists():
        assert "to continue: benchforge run --resume results/suite-" in ended.err


def test_what_a_host_calls_things_is_printed_as_text(recording: Recording, tmp_path: Path) -> None:
    """A stage, a label and names of doubts were printed as they came."""
    failure = {"stage": CONTROLS, "message": CONTROLS}
    ended = run(recording, tmp_path, recording.changed("load", "leave", trial={"failure": failure}))
    is_plain(ended)
    assert f"FAILED ({AS_TEXT}): {AS_TEXT}\n" in ended.err
    left = json.loads((recording.folder / "load.json").read_text())["leave"][0]["value"]
    process = left["trial"]["processes"][0] | {"label": CONTROLS, "truncated": ["stdout"]}
    doubt = dict.fromkeys(("id", "name", "message"), CONTROLS)
    doubt |= {"scope": "trial", "subject": "apparatus", "status": "fail"}
    changed = {"processes": [process], "checks": [doubt]}
    ended = run(recording, tmp_path, recording.changed("load", "leave", trial=changed))
    is_plain(ended)
    assert f"{AS_TEXT}: it printed too much on stdout" in ended.err
    assert f"{AS_TEXT} {AS_TEXT}" not in ended.all  # a host has no checks


def test_the_command_of_the_error_continues(recording: Recording, tmp_path: Path) -> None:
    mutation = recording.changed("load", "leave", trial={"reading": CONTROLS})
    ended = run(recording, tmp_path, mutation, code=4)
    *_, error, hint = ended.err.splitlines()
    assert error.startswith("error: hosts.load: its answer to leave is not one of benchforge's: ")
    assert "value: trial: reading: " in error
    assert hint.startswith("hint: see what runs there")
    command = re.search("to continue: benchforge (run --resume results/suite-.*)", ended.err)
    assert command, ended.err
    run(recording, tmp_path, None, *command[1].split(), code=0)


@pytest.mark.parametrize(
    ("host", "call", "fields", "says"),
    [
        # It could send the load of another to an address of somebody else.
        ("app", "service server-server", {"address": "192.0.2.1"}, "is at an address of others"),
        # A trial exists if its trial.json does, and a host could have left one.
        ("load", "leave", {"files": ["trial.json"]}, "no program leaves a file trial.json"),
        # It could replace what another host's load tool printed.
        ("load", "leave", {"files": ["server-server.out"]}, "another host has a file server-"),
    ],
)
def test_a_host_sends_its_own_address_and_files_only(
    recording: Recording, tmp_path: Path, host: str, call: str, fields: dict[str, Any], says: str
) -> None:
    ended = run(recording, tmp_path, recording.changed(host, call, **fields), code=4)
    (error,) = (line for line in ended.err.splitlines() if line.startswith(f"error: hosts.{host}"))
    assert says in error
