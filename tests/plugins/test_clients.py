"""Clients against a server that counts for itself: what a driver tells is what happened."""

import importlib.util
import json
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from benchforge_clients.library import DRIVERS, Library
from benchforge_metrics.times import ClientCpu, Wall
from front_door import PROGRAMS, Bench, bench, lack, needed_module
from hypothesis import given
from hypothesis import strategies as st
from measured.case import cases, trial_of
from present import present
from serving.certificate import certificate
from serving.in_trial import accepts
from suite_texts.files import suite_text

from benchforge.errors import ProgramMissing
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.window import WHOLE
from benchforge.parts.command import Command, Finished
from benchforge.parts.registry import Registry
from benchforge.parts.site import Output, Target
from benchforge.plugin import OutputDamaged, Request
from benchforge.run.programs.interpreters import find
from benchforge.run.sandbox.host import LocalHost, Sandbox

__all__ = ["bench"]

HOST = LocalHost()
REGISTRY = Registry()
BY_NAME = {
    name: cast("type[Library]", REGISTRY.part("client", name)) for name in REGISTRY.names("client")
}
MODES = [
    (name, mode)
    for name, cls in BY_NAME.items()
    for mode in (
        get_args(cls.model_fields["mode"].annotation) if "mode" in cls.model_fields else [""]
    )
]
IDS = ["-".join(filter(None, item)) for item in MODES]
# A connection for each request, whatever the server offers.
NEW_EACH_TIME = {
    *{("http_client", "noreuse"), ("httplib2", "noreuse"), ("httplib2", "gevent")},
    *{("pycurl", "noreuse-buffer"), ("pycurl", "newhandle"), ("requests", "call")},
    *{("tornado", "simple"), ("urllib", "")},
}
# As many as come about, at most as many as requests.
ROUNDS = {item for item in MODES if item[1].startswith(("threads-", "async-"))}
STANDARD = [("http_client", "reuse"), ("http_client", "noreuse"), ("urllib", "")]
BODY = '{"result":2}'
ASKED = Request(path="/x?a=1")
# One mode for each way in which a driver makes its requests.
WAYS = [
    *{mode[0]: mode for mode in reversed(MODES)}.values(),
    *(("httpx", "async"), ("httplib2", "gevent"), ("pycurl", "multi")),
    *(("requests", "session-prepared"), ("tornado", "curl")),
]
# Whose other modes repeat, for faults of how a request is made; `make test` tries these.
ONE_A_WAY = [
    pytest.param(*item, id=label, marks=[] if item in WAYS else [pytest.mark.exhaustive])
    for item, label in zip(MODES, IDS, strict=True)
]


@dataclass(frozen=True)
class Measured:
    """What a client read, what the driver printed, and what the server counted."""

    part: Library
    output: Output
    server: dict[str, Any]

    @property
    def reading(self) -> Reading:
        return self.part.read(self.output)

    @property
    def printed(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.output.stdout)
        return document


def part(name: str, mode: str = "", **options: Any) -> Library:
    options |= {"mode": mode} if mode else {}
    actual = BY_NAME[name].model_validate({"requests": 12, "timeout": "5s"} | options)
    for module in actual.imports():
        needed_module(module)
    return actual


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "trial").mkdir()
    return tmp_path / "trial"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with two certificates of this machine, each with its key in one file."""
    certificates = tmp_path_factory.mktemp("certificates")
    for name in ("right", "wrong"):
        certificate_ = certificate(certificates, name, "IP:127.0.0.1")
        with_suffix = certificate_.with_suffix(".key").read_text() + certificate_.read_text()
        (certificates / f"{name}.both").write_text(with_suffix)
    return certificates


def run(
    client: Library,
    folder: Path,
    *words: str | Path,
    request: Request = ASKED,
    ca_file: Path | None = None,
    python: Path = Path(sys.executable),
) -> Measured:
    """Start a server that counts, run the client against it, and ask the server for its counts."""
    scheme = "https" if "--certificate" in words else "http"
    with HOST.trial(folder) as sandbox:
        port = sandbox.free_port()
        command = Command(sys.executable, PROGRAMS / "servers/counts.py", "--port", port, *words)
        folder = Path(tempfile.mkdtemp(dir=folder))  # of this run: what is printed is added
        server = sandbox.start("server", command, folder, {})
        try:
            deadline = time.monotonic() + 200
            while not accepts(sandbox, port):
                assert sandbox.alive(server), server.stderr.read_text()
                assert time.monotonic() < deadline
                time.sleep(0.01)
            url = f"{scheme}://127.0.0.1:{port}{request.path}"
            target = Target(url, request, folder, {}, python, ca_file=ca_file)
            output = driven(sandbox, client, target)
        finally:
            sandbox.stop(server, first=signal.SIGTERM)
    counted = json.loads(server.stdout.read_text())
    counted["connections"] -= 1  # ours, to see whether it is there
    return Measured(client, output, counted)


def driven(sandbox: Sandbox, client: Library, target: Target) -> Output:
    for name, text in client.files(target).items():
        (target.folder / name).write_text(text)
    (command,) = client.commands(target)
    return Output(target, (sandbox.run("client", command, target.folder, {}, 200),))


# --- every client and mode -----------------------------------------------------------------------


@pytest.mark.parametrize(("name", "mode"), MODES, ids=IDS)
def test_what_is_told_is_what_the_server_counted(folder: Path, name: str, mode: str) -> None:
    agrees(run(part(name, mode), folder), name, mode)


@pytest.mark.parametrize(("name", "mode"), ONE_A_WAY)
def test_over_tls_it_is_the_same(folder: Path, certificates: Path, name: str, mode: str) -> None:
    words = ("--certificate", certificates / "right.both")
    agrees(run(part(name, mode), folder, *words, ca_file=certificates / "right.pem"), name, mode)


def agrees(done: Measured, name: str, mode: str) -> None:
    reading, server = done.reading, done.server
    assert (reading.responses, reading.good, server["requests"]) == (12, 12, 12)
    assert set(reading.errors.values()) == {0}
    assert reading.connections == server["connections"]
    if (name, mode) in NEW_EACH_TIME:
        assert reading.connections == 12
    elif (name, mode) not in ROUNDS:
        assert reading.connections == 1
    else:
        assert 1 <= server["connections"] <= 12
    latency = present(reading.latency)
    assert latency.count == 12
    assert latency.max_us <= reading.seconds * 1e6
    assert reading.document_bytes == len(BODY)
    assert reading.printed["body_bytes"] == 12 * len(BODY)
    assert server["asked"][0][0] == ["GET", "/x?a=1"]
    cpu_s = present(reading.cpu_user_s) + present(reading.cpu_system_s)
    (process,) = done.output.finished
    assert 0 < cpu_s <= process.user_s + process.system_s + 0.02
    assert 0 < reading.seconds < process.seconds
    assert done.output.stderr == ""


@pytest.mark.samples(4)
@pytest.mark.parametrize(("name", "mode"), MODES, ids=IDS)
def test_a_foreign_certificate(folder: Path, certificates: Path, name: str, mode: str) -> None:
    client = part(name, mode)
    words = ("--certificate", certificates / "right.both")
    wrong = run(client, folder, *words, ca_file=certificates / "wrong.pem")
    careless = client.model_copy(update={"verify": False})
    finished = run(careless, folder, *words, ca_file=certificates / "wrong.pem")
    assert finished.reading.good == finished.server["requests"] == 12
    _is_refused(wrong)


@pytest.mark.samples(5)
@pytest.mark.parametrize(("name", "mode"), WAYS)
def test_system_certificates(folder: Path, certificates: Path, name: str, mode: str) -> None:
    words = ("--certificate", certificates / "right.both")
    _is_refused(run(part(name, mode), folder, *words))


def _is_refused(done: Measured) -> None:
    assert done.server["requests"] == 0
    assert (done.reading.responses, done.reading.unanswered) == (0, 12)
    complaints = json.dumps(done.reading.printed["complaints"]).lower()
    assert "certificate" in complaints or "ssl" in complaints


@pytest.mark.parametrize(("name", "mode"), ONE_A_WAY)
def test_bad_statuses_are_errors_and_responses(folder: Path, name: str, mode: str) -> None:
    done = run(part(name, mode), folder, "--status", "503")
    assert done.server["requests"] == 12
    assert (done.reading.responses, done.reading.good) == (12, 0)
    assert done.reading.errors == {"status": 12, "length": 0}
    assert done.reading.document_bytes is None


@pytest.mark.samples(8)
@pytest.mark.parametrize(("name", "mode"), WAYS)
def test_a_redirect_is_a_response_and_is_not_followed(folder: Path, name: str, mode: str) -> None:
    redirected = run(part(name, mode), folder, "--status", "302")
    assert redirected.server["requests"] == redirected.reading.good == 12
    assert redirected.reading.printed["statuses"] == {"302": 12}


@pytest.mark.parametrize(("name", "mode"), ONE_A_WAY)
def test_a_server_that_is_not_there(folder: Path, name: str, mode: str) -> None:
    client = part(name, mode)
    with HOST.trial(folder) as sandbox:
        url = f"http://127.0.0.1:{sandbox.free_port()}/"
        output = driven(sandbox, client, Target(url, Request(), folder, {}, Path(sys.executable)))
    reading = client.read(output)
    assert (reading.responses, reading.good, reading.unanswered) == (0, 0, 12)
    assert sum(reading.errors.values()) == 12
    assert reading.connections in ({0} if (name, mode) != ("tornado", "curl") else {None})
    assert present(reading.latency).count == 0


@pytest.mark.samples(5)
@pytest.mark.parametrize(("name", "mode"), MODES, ids=IDS)
def test_bodies_that_are_cut_short_are_never_good(folder: Path, name: str, mode: str) -> None:
    # Every third: the first body is whole, and is what the others are compared with.
    done = run(part(name, mode), folder, "--way", "half", "--every", "3")
    reading = done.reading
    assert reading.good_at_least <= done.server["requests"] - done.server["requests"] // 3
    assert reading.responses + (reading.unanswered or 0) == 12
    assert sum(reading.errors.values()) >= 4


@pytest.mark.samples(6)
@pytest.mark.parametrize("way", ["close-told", "close", "reset"])
@pytest.mark.parametrize(("name", "mode"), WAYS)
def test_a_server_that_closes(folder: Path, name: str, mode: str, way: str) -> None:
    done = run(part(name, mode), folder, "--way", way, "--every", "2")
    reading, server = done.reading, done.server
    assert reading.responses + (reading.unanswered or 0) == 12
    assert reading.responses <= server["answered"]
    if way == "close-told":
        assert reading.good == 12
    if way == "reset":  # some libraries ask again in secret
        assert reading.unanswered or server["requests"] > 12
    if reading.connections is not None:
        assert reading.connections == server["connections"]
    else:
        assert (name, mode) == ("tornado", "curl")


@pytest.mark.parametrize(("name", "mode"), WAYS)
def test_the_request_is_the_scenarios(folder: Path, name: str, mode: str) -> None:
    headers = {"X-Colour": "blue", "Content-Type": "application/json"}
    post = Request(method="POST", path="/new", headers=headers, body='{"é": 1}')
    head = Request(method="HEAD", path="/")
    posted = run(part(name, mode, requests=3), folder, request=post)
    headed = run(part(name, mode, requests=3), folder, request=head)
    for line, sent, body in posted.server["asked"]:
        assert line == ["POST", "/new"]
        assert (sent["x-colour"], sent["content-type"]) == ("blue", "application/json")
        assert body == '{"é": 1}'
    assert [line for line, *_ in headed.server["asked"]] == [["HEAD", "/"]] * 3
    assert (posted.reading.good, headed.reading.good) == (3, 3)
    assert headed.reading.printed["body_bytes"] == 0


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "mode"), ONE_A_WAY)
def test_concurrency_and_the_warm_up_of_a_client(folder: Path, name: str, mode: str) -> None:
    options = {} if (name, mode) in ROUNDS else {"concurrency": 3}
    done = run(part(name, mode, requests=30, warm_up=6, **options), folder)
    assert (done.reading.good, done.server["requests"]) == (30, 36)
    warm = done.printed["warm_up"]
    assert (warm["requests"], warm["responses"]) == (6, 6)
    assert done.server["connections"] == warm["connections"] + (done.reading.connections or 0)
    if (name, mode) in NEW_EACH_TIME:
        assert (warm["connections"], done.reading.connections) == (6, 30)
    elif (name, mode) not in ROUNDS:
        assert 1 <= done.server["connections"] <= 3


@pytest.mark.samples(5)
@pytest.mark.parametrize(("name", "mode"), MODES, ids=IDS)
def test_the_warm_up_of_a_trial_ends_in_time(folder: Path, name: str, mode: str) -> None:
    warm = part(name, mode).for_warm_up(0.3)
    assert isinstance(warm, Library)
    done = run(warm, folder)
    printed = done.printed
    assert printed["requests"] == done.server["requests"] > 0
    assert printed["seconds"] >= 0.3
    assert printed["requests"] % (12 if (name, mode) in ROUNDS else 1) == 0


def test_a_delay_is_taken_off_the_time(folder: Path) -> None:
    done = run(part("http_client", delay="20ms", requests=5), folder)
    full = done.reading.printed["seconds_with_delays"]
    assert isinstance(full, float)
    assert full >= 0.1
    assert done.reading.seconds == pytest.approx(full - 0.1)


@pytest.mark.parametrize("name", ["requests", "aiohttp"])
def test_requests_are_numbered_as_in_the_study(folder: Path, name: str) -> None:
    mode = {"requests": "threads-reuse", "aiohttp": "async-for"}[name]
    client = part(name, mode, requests=3, numbered="number", decode_json=True)
    done = run(client, folder, request=Request(path="/multiply"))
    items = sorted(line[1] for line, *_ in done.server["asked"])
    assert items == [f"/multiply?number={number}" for number in range(3)]
    assert done.reading.document_bytes is None


def test_bodies_are_decoded_where_that_is_asked_for(folder: Path) -> None:
    done = run(part("urllib3", decode_json=True), folder, "--body", "no JSON")
    assert done.reading.errors == {"status": 0, "length": 0, "JSONDecodeError": 12}


def test_bodies_of_varying_length_are_doubt_or_allowed(folder: Path) -> None:
    done = run(part("urllib3"), folder, "--way", "grows")
    assert (done.reading.good_at_least, done.reading.good_at_most) == (1, 12)
    assert done.reading.errors["length"] == 11
    assert "variable_length = true" in done.reading.bounds
    allowed = done.part.model_copy(update={"variable_length": True}).read(done.output)
    assert (allowed.good, allowed.errors["length"], allowed.document_bytes) == (12, 0, None)


@pytest.mark.parametrize(
    "mode",
    [
        *("threads-recreate", "threads-recreate_published", "threads-reuse"),
        *("threads-map", "threads-map_published"),
    ],
)
def test_errors_that_the_study_hides_are_counted(folder: Path, mode: str) -> None:
    done = run(part("requests", mode), folder, "--way", "reset")
    claims, surfaced = done.reading.printed, 0 if mode.endswith("_published") else 12
    assert done.reading.unanswered == 12
    assert (claims["errors_surfaced"], claims["errors_hidden"]) == (surfaced, 12 - surfaced)


def test_a_chunk_is_waited_for_and_the_pool_is_not_exceeded(folder: Path) -> None:
    options = {"requests": 40, "threads": 4, "chunk": 10}
    done = run(part("requests", "threads-reuse", **options), folder)
    assert done.reading.good == 40
    assert done.server["connections"] <= 4


@pytest.mark.parametrize("python", ["pypy3", "3.9"])
@pytest.mark.parametrize(("name", "mode"), STANDARD)
def test_standard_clients_on_old_pythons(folder: Path, name: str, mode: str, python: str) -> None:
    with HOST.trial(folder) as sandbox:
        try:
            actual = find(sandbox, python, "x", folder, folder)
        except ProgramMissing as missing:
            if python == "pypy3":
                lack(missing.message)
            pytest.skip(missing.message)  # Debian has one CPython
    done = run(part(name, mode), folder, python=actual.path)
    assert (done.reading.good, done.reading.connections) == (12, done.server["connections"])
    version = str(done.reading.printed["python"])
    assert version.startswith("PyPy 3." if python == "pypy3" else "CPython 3.9.")


# --- reading -------------------------------------------------------------------------------------


DOCUMENT: dict[str, Any] = json.loads(
    """{
"protocol": 1, "library": "http.client", "version": "", "python": "CPython 3.11.7", "mode": "reuse",
"requests": 12, "seconds": 0.5, "user_s": 0.1, "system_s": 0.1, "import_s": 0.0, "set_up_s": 0.1,
"statuses": {"200": 10, "500": 1}, "errors": {"TimeoutError": 1}, "surfaced": 1,
"complaints": {"TimeoutError": "late"}, "first_length": 4, "other_lengths": 2, "body_bytes": 44,
"connections": 1, "connections_why": "", "latency_us": {"100": 10, "300": 1},
"warm_up": {"requests": 0, "responses": 0, "connections": 0}
}"""
)


def reading_of(text: str, folder: Path, code: int = 0, stderr: str = "") -> Reading:
    (folder / "client.out").write_text(text)
    (folder / "client.err").write_text(stderr)
    target = Target("http://127.0.0.1/", Request(), folder, {}, Path(sys.executable))
    done = Finished(code, folder / "client.out", folder / "client.err", 1.0, 0.3, 0.2)
    return part("http_client").read(Output(target, (done,)))


def test_a_whole_document_is_read(tmp_path: Path) -> None:
    reading = reading_of(json.dumps(DOCUMENT), tmp_path)
    assert (reading.responses, reading.good_at_least, reading.good_at_most) == (11, 8, 10)
    assert reading.errors == {"status": 1, "length": 2, "TimeoutError": 1}
    assert (reading.unanswered, reading.connections, reading.document_bytes) == (1, 1, 4)
    assert reading.printed["process_s"] == 1.0


@pytest.mark.parametrize("key", sorted(DOCUMENT))
def test_a_document_without_one_of_its_members_is_refused(tmp_path: Path, key: str) -> None:
    text = json.dumps({name: value for name, value in DOCUMENT.items() if name != key})
    with pytest.raises(OutputDamaged, match=f"http_client: {key}: Field required"):
        reading_of(text, tmp_path)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"protocol": 2}, "protocol"),
        ({"more": 1}, "more: Extra inputs"),
        ({"requests": 13}, "responses and errors do not make 13"),
        ({"requests": 11, "errors": {}, "surfaced": 0}, "requests: 11, asked were 12"),
        ({"latency_us": {"100": 10}}, "not as many latencies as the 11 responses"),
        ({"latency_us": {"-1": 11}}, "latency_us"),
        ({"statuses": {"20": 11}}, "statuses"),
        ({"mode": "noreuse"}, "mode: 'noreuse', asked was 'reuse'"),
        ({"surfaced": 2}, "2 errors surfaced of 1"),
        ({"first_length": None}, "lengths"),
        ({"other_lengths": 11}, "lengths"),
        ({"connections": None}, "connections"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": "NaN"}, "seconds"),
        ({"user_s": -1}, "user_s"),
        ({"warm_up": {"requests": 1, "responses": 1, "connections": 1}}, "warm_up: 1, asked were"),
    ],
)
def test_impossible_documents_fail(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(OutputDamaged, match=says):
        reading_of(json.dumps(DOCUMENT | changed), tmp_path)


def test_a_driver_that_failed_says_why(tmp_path: Path) -> None:
    with pytest.raises(OutputDamaged, match=r"http_client: ModuleNotFoundError: No module"):
        reading_of("", tmp_path, 1, "Traceback\nModuleNotFoundError: No module named 'x'\n")
    with pytest.raises(OutputDamaged, match="ended by signal 9"):
        reading_of("", tmp_path, -9)


# --- the protocol --------------------------------------------------------------------------------


SPEC = present(importlib.util.spec_from_file_location("protocol", DRIVERS / "protocol.py"))
PROTOCOL: Any = importlib.util.module_from_spec(SPEC)
present(SPEC.loader).exec_module(PROTOCOL)
ANSWERS = st.tuples(
    st.sampled_from([200, 204, 302, 404, 500]), st.integers(0, 5), st.integers(0, 10**10)
)
ENDS = st.lists(st.one_of(ANSWERS, st.sampled_from([OSError("a"), ValueError("b")])))


def tallied(ends: Sequence[Any]) -> Any:
    tally = PROTOCOL.Tally()
    for end in ends:
        if isinstance(end, Exception):
            tally.failed(end)
        else:
            tally.answered(*end)
    return tally


@given(ENDS)
def test_a_tally_counts_what_a_list_would(ends: list[Any]) -> None:
    tally = tallied(ends)
    answers = [end for end in ends if not isinstance(end, Exception)]
    assert tally.latency_us == Counter(ns // 1000 for _, _, ns in answers)
    assert tally.statuses == Counter(status for status, _, _ in answers)
    assert tally.errors == Counter(type(end).__name__ for end in ends if isinstance(end, Exception))
    assert (tally.requests, tally.responses) == (len(ends), len(answers))
    assert tally.body_bytes == sum(length for _, length, _ in answers)
    good = [length for status, length, _ in answers if status < 400]
    assert tally.first_length == (good[0] if good else None)
    assert tally.other_lengths == sum(length != good[0] for length in good)
    assert Histogram.of(tally.latency_us).sum_us == sum(ns // 1000 for _, _, ns in answers)


@given(ENDS, ENDS)
def test_tallies_of_threads_add_up(item: list[Any], other: list[Any]) -> None:
    added = tallied(item)
    added.add(tallied(other))
    at_once = tallied([*item, *other])
    assert vars(added) == vars(at_once)


def test_turns_are_as_many_as_asked_or_end_in_time() -> None:
    assert list(PROTOCOL.Turns(4, None)) == [0, 1, 2, 3]
    assert list(PROTOCOL.Turns(None, 0.0)) == []
    assert [list(item) for item in PROTOCOL.Turns(2, None).rounds()] == [[0, 1]]
    assert [list(item) for item in PROTOCOL.Turns(2, 0.0).rounds()] == [[0, 1]]


# --- parts ---------------------------------------------------------------------------------------


def test_rounds_of_the_study_are_a_thousand_requests() -> None:
    assert BY_NAME["requests"].model_validate({"mode": "threads-map"}).requests == 1000
    assert BY_NAME["aiohttp"].model_validate({"mode": "async-for"}).requests == 1000
    plain = [cls.model_validate({}) for cls in BY_NAME.values()]
    assert {(client.requests, client.declared_s()) for client in plain} == {(None, 10.0)}
    for client in plain:
        imports = {(module, "module") for module in client.imports()}
        assert {(need.name, need.kind) for need in client.needs()} == imports


def test_a_driver_that_differs_makes_another_case(tmp_path: Path) -> None:
    assert len({part(name).fingerprint(tmp_path) for name in BY_NAME}) == len(BY_NAME)


# --- a whole trial -------------------------------------------------------------------------------


def test_a_suite_measures_clients(tmp_path: Path) -> None:
    (tmp_path / "counts.py").symlink_to(PROGRAMS / "servers/counts.py")
    (tmp_path / "suite.toml").write_text(suite_text("plugins/clients"))
    (case,) = cases(tmp_path / "suite.toml")
    trial = trial_of(case, tmp_path)
    assert trial.measured, trial.failure
    assert (tmp_path / "trial/client-kept.out").exists()
    reading = present(trial.reading)
    assert (reading.good, reading.connections) == (50, 1)
    load, process = Wall.model_validate({"of": ["load", "process"]}).of_trial(trial, "wall", WHOLE)
    assert load.value == reading.seconds
    assert process.value == present(trial.observation).seconds
    assert (load.unit, load.why) == ("s", "")
    total, user, system = ClientCpu().of_trial(trial, "cpu", WHOLE)
    assert total.value == pytest.approx((user.value or 0) + (system.value or 0))
    less = reading.model_copy(update={"good_at_least": 49, "good_at_most": 49})
    (wall,) = Wall().of_trial(trial.model_copy(update={"reading": less}), "wall", WHOLE)
    assert (wall.value, wall.why) == (load.value, "of 50 requests: 49 good responses")
    less = reading.model_copy(update={"cpu_user_s": None})
    untold = ClientCpu().of_trial(trial.model_copy(update={"reading": less}), "cpu", WHOLE)
    assert [sample.value is None for sample in untold] == [True, True, False]


def test_clients_of_one_server_are_compared_with_one_another(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "counts.py").symlink_to(PROGRAMS / "servers/counts.py")
    (tmp_path / "suite.toml").write_text(suite_text("plugins/clients_compared"))
    result = bench("run", "suite.toml", code=0).result
    header = json.loads((result / "result.json").read_text())
    summary = json.loads((result / "summary.json").read_text())
    assert header["clients"] == ["one"]
    (comparison,) = summary["comparisons"]
    assert (comparison["driver"], comparison["vary"]) == ("", {})
    assert [case["driver"] for case in comparison["cases"]] == ["kept", "slow"]
    assert {"E3", "E4", "D3"} & {check["id"] for check in comparison["checks"]} == set()
    (ranking,) = comparison["rankings"]
    assert {item["server"] for item in ranking["ranking"]["order"]} == {"kept", "slow"}
    assert re.search(r"kept .+ slow|slow .+ kept", (result / "report.md").read_text())
    bench("verify", result, code=0)
    header["clients"] = []
    (result / "result.json").write_text(json.dumps(header))
    assert "clients" in bench("verify", result).all
