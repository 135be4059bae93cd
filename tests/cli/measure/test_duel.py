"""`benchforge duel`: commands and URLs become a suite, and the suite a result."""

import shlex
import socket
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench
from hypothesis import given, settings
from hypothesis import strategies as st
from made.observed import answer
from serving.apps import free_port, running

from benchforge.cli.measure.duel import suite as duel
from benchforge.cli.measure.duel.answers import FirstAnswer, agreed
from benchforge.cli.measure.duel.servers import contender, labelled, relative_to
from benchforge.model.files.folder import read_header, read_summary
from benchforge.parts.registry import Registry
from benchforge.suite.load import load
from benchforge.suite.toml.document import Tables, as_table

ANSWERS = shlex.quote(str(PROGRAMS / "servers/answers.py"))
PONG = f"{{python}} {ANSWERS} --port {{port}} --wait 0.003"
LABELS = ("--label", "a", "--label", "b")
SLOW = f"{{python}} {ANSWERS} --port {{port}} --wait 0.006"
SOON, LATE = "answers-0-003", "answers-0-006"
OWN_DATA = duel.Question(backends={"redis": "./data"})
WORDS = st.lists(st.text(st.characters(exclude_characters="{}", codec="utf-8"), max_size=9))


def refusal(tables: Tables) -> str:
    """Return why a suite of these tables cannot be measured; empty if it can."""
    suite = duel.suite_or_why(
        tables, lambda item: load(Path("duel.toml"), Registry(), text=duel.text(item))
    )
    return suite if isinstance(suite, str) else ""


def suite_of(*servers: str, folder: Path, question: duel.Question | None = None) -> str:
    contenders = labelled([contender(server) for server in servers], ())
    request = question or duel.Question()
    return duel.text(duel.tables_of(contenders, request, folder))


def test_two_commands_are_measured_and_the_suite_is_kept(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "a-key-of-ours")
    words = ["--time", "6s", "--connections", "4", "--save", "a/suite.toml", "--env", "SHOP_KEY"]
    call = bench("duel", "--details", PONG, SLOW, *words)
    assert call.code in {0, 4}, call.all  # a loud machine leaves a server without a value
    assert f"{SOON}: {PONG}\n{LATE}: {SLOW}\n{{python}} is {sys.executable}" in call.err
    assert "all answer alike: 200, text/plain, 4 bytes" in call.err
    assert SOON in call.out
    assert LATE in call.out
    result = call.result
    saved = (tmp_path / "a/suite.toml").read_text()
    assert read_header(result).suite == saved
    assert "answers are judged by the body of the first answer" in call.err
    expect = tomllib.loads(saved)["scenarios"]["duel"]["expect"]
    assert expect == {"status": 200, "content_type": "text/plain", "same_body": True}
    assert "judged by the body of the first answer" in (result / "report.md").read_text()
    assert "a-key-of-ours" not in saved
    for server in tomllib.loads(saved)["servers"].values():
        assert server["environment"] == {"SHOP_KEY": {"env": "SHOP_KEY"}}
    assert {case.case.server for case in read_summary(result).cases} == {SOON, LATE}
    assert list(result.glob("trials/*/trial.json"))
    assert (result / "report.html").exists()
    bench("check", "a/suite.toml", code=0)
    assert "warning: --time 6s is too short: an interval takes 3 blocks, about " in call.err
    for off in ("scenarios.duel.interleave=off", "repeat.interleave=off"):
        bench("plan", "a/suite.toml", "--set", off, code=0)


@pytest.mark.parametrize(
    ("bodies", "method", "words"),
    [
        ((b"pong", b"pong"), "GET", "the body"),
        ((b"pong", b"pong"), "POST", "the body"),
        ((b"", b""), "HEAD", "the status and type"),
        ((b"pong", b"ping"), "GET", "the status, type and length"),
        ((b"pong", b"ping"), "POST", "the status and type"),
        ((b"pong", b"pongs"), "GET", "the status and type"),
    ],
)
def test_the_first_answer_is_expected(bodies: tuple[bytes, ...], method: str, words: str) -> None:
    """The length of an early answer is no law: it may grow, and each load has its own probes."""
    firsts = {}
    for label, body in zip("ab", bodies, strict=True):
        fields: dict[str, Any] = {"repeats": True, "seconds": 0.001, "start_s": 0.5}
        fields["forms"] = frozenset({("text/plain", len(body))})
        firsts[label] = FirstAnswer(answer(length=len(body)), body, **fields)
    right, actual = agreed(firsts, method)
    assert actual.startswith(f"{words} of the first answer")
    assert right.pop("content_type") == "text/plain"
    assert right == ({"same_body": True} if len(set(bodies)) == 1 else {})


def test_without_save_the_run_can_be_resumed(bench: Bench, tmp_path: Path) -> None:
    call = bench("duel", PONG, PONG, "--label", "a", "--label", "b", "--time", "1s")
    assert "to continue: " in call.err
    assert "SUITE" not in call.out  # advice names the file
    (result,) = (path for path in (tmp_path / "results").iterdir() if path.is_dir())
    resumed = bench("run", "--resume", result, "--time-limit", "1s")
    assert resumed.code in {0, 4}, resumed.all
    assert f"results in {result}" in resumed.err


def test_a_url_is_compared_with_a_command(bench: Bench, tmp_path: Path) -> None:
    port = free_port()
    server = str(PROGRAMS / "servers/answers.py")
    words = [sys.executable, server, "--port", str(port), "--wait", "0.003"]
    with running(words, tmp_path, {}, tmp_path / "log", lambda: listens(port)):
        run = bench("duel", f"http://127.0.0.1:{port}/a?b", PONG, "--time", "1s")
    assert run.code in {0, 4}, run.all
    assert "all answer alike: 200, text/plain, 4 bytes" in run.err
    (header,) = (read_header(path.parent) for path in tmp_path.glob("results/*/result.json"))
    assert 'path = "/a?b"' in header.suite
    assert f'url = "http://127.0.0.1:{port}"' in header.suite


def test_a_useless_variable(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command and a server of a suite that end at their start for the lack of it."""
    monkeypatch.setenv("SHOP_KEY", "a-key-of-ours")
    checks = 'import os; exit(os.environ.get("SHOP_KEY") or "no SHOP_KEY")'
    lacks = f"{{python}} -c {shlex.quote(checks)} {{port}}"
    call = bench("duel", PONG, lacks, *LABELS)
    assert "hint: the command does not receive your SHOP_KEY: add --env SHOP_KEY" in call.err
    call = bench("duel", lacks, PONG, *LABELS, "--env", "SHOP_KEY")
    assert "| ***\n" in call.err  # the command printed it
    (tmp_path / "suite.toml").write_text(suite_of(lacks, PONG, folder=tmp_path))
    call = bench("serve", "suite.toml", "port")
    hint = 'say environment = { SHOP_KEY = { env = "SHOP_KEY" } } in servers.port'
    assert f"hint: the server does not receive your SHOP_KEY: {hint}" in call.err


def test_localhost_may_be_the_other_loopback(bench: Bench, tmp_path: Path) -> None:
    """A server on ::1 alone, where the machine's localhost may be 127.0.0.1 alone."""
    port = free_port()
    words = [sys.executable, str(PROGRAMS / "servers/answers.py"), "--address", "::1"]

    def ready() -> bool:
        with socket.socket(socket.AF_INET6) as client:
            return client.connect_ex(("::1", port)) == 0

    log = tmp_path / "log"
    with running([*words, "--port", str(port)], tmp_path, {}, log, ready):
        call = bench("duel", *[f"http://localhost:{port}"] * 2, *LABELS, "--time", "1s")
        assert "all answer alike: 200, text/plain, 4 bytes" in call.err
        (saved,) = (tmp_path / "results").glob("*.toml")
        quick = ("repeat.blocks=1", "repeat.warmup=0s", "loaders.load.duration=0.3s")
        words = [word for setting in quick for word in ("--set", setting)]
        call = bench("run", saved, *words, "-o", "quick")
    (result,) = (path for path in (tmp_path / "quick").iterdir() if path.is_dir())
    assert all(case.trials for case in read_summary(result).cases), call.all


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(
    ("other", "code", "says"),
    [
        (f"{PONG} --type text/html", 4, "error: the servers answer differently: content types"),
        (f"{PONG} --status 404", 4, "error: b: GET /: expected status 200, got 404"),
        ("{python} -c 'raise SystemExit(3)' {port}", 4, "error: b: ended with exit code 3"),
        (f"{PONG} --status 404", 4, "hint: add --path /..., or name the right status with"),
        ("{python} -m no_such_module {port}", 4, "No module named no_such_module"),
        ("{python} -m no_such_module {port}", 4, "hint: no_such_module is neither in the folder"),
        ("waitress-serv {port}", 3, "hint: did you mean waitress-serve? "),
        ("no-such-program {port}", 3, "error: missing program: no-such-program"),
        ("http://127.0.0.1:2/", 4, "nothing listens there: connection refused"),
        ("http://127.0.0.1:2/", 4, "start the server first"),
    ],
)
def test_a_duel_compares_answers(
    bench: Bench, tmp_path: Path, other: str, code: int, says: str
) -> None:
    call = bench("duel", PONG, other, *LABELS, "--time", "1s")
    assert says in call.err
    assert "time limit" not in call.err
    assert call.code == code
    assert "hint: " in call.err
    assert not (tmp_path / "results").exists()


def test_a_duel_of_different_bodies_is_not_comparable(bench: Bench, tmp_path: Path) -> None:
    call = bench("duel", "--details", PONG, f"{PONG} --body other", *LABELS, "--time", "6s", code=4)
    if "FAILED" not in call.err:
        assert "! duel (in turns)  Not comparable: their bodies differ" in call.out, call.all
    assert "warning: b does not answer as a does: the body differs from" in call.err
    assert "time limit" in call.err
    assert len([*tmp_path.glob("results/*/summary.json")]) == 1


@pytest.mark.parametrize(
    ("option", "keeps"),
    [((), False), (("--no-keep-alive",), False), (("--keep-alive",), None)],
)
def test_a_server_that_closes_connections_is_compared_without_kept_ones(
    bench: Bench, tmp_path: Path, option: tuple[str, ...], keeps: bool | None
) -> None:
    words = ("--time", "1s", "--save", "suite.toml", *option)
    call = bench("duel", PONG, f"{PONG} --close", *LABELS, *words)
    assert ("b closes each connection, a keeps them: " in call.err) is not bool(option), call.all
    load_ = tomllib.loads((tmp_path / "suite.toml").read_text())["loaders"]["load"]
    assert load_.get("keep_alive") is keeps


def test_a_file_of_the_users_own_is_not_replaced(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text("benchforge = 1\n")
    call = bench("duel", PONG, SLOW, "--save", "suite.toml", code=2)
    assert "--save suite.toml: the file exists, and it was not written by duel" in call.err
    assert (tmp_path / "suite.toml").read_text() == "benchforge = 1\n"


def test_a_duel_keeps_a_suite_that_was_edited() -> None:
    written = suite_of("serve {port}", folder=Path())
    assert not duel.why_kept(written)
    assert duel.why_kept(written.replace("connections = 16", "connections = 64")) == "it was edited"
    assert duel.why_kept(f"{written}# a note\n") == "it was edited"
    assert duel.why_kept(written.partition("\n")[2]) == "it was not written by duel"
    assert duel.why_kept("") == "it was not written by duel"


def test_a_request_with_a_secret_leaves_no_suite(bench: Bench, tmp_path: Path) -> None:
    words = ["--header", "Authorization: Bearer abcdefgh1234", "--time", "1s"]
    call = bench("duel", PONG, f"API_TOKEN=abcdefgh1234 {PONG}", *words)
    assert "abcdefgh1234" not in call.all
    assert "the duel has a secret: its suite is not kept" in call.err
    assert "to continue: " not in call.err
    assert not list(tmp_path.glob("results/*.toml"))
    rest = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert rest
    assert not [path for path in rest if b"abcdefgh1234" in path.read_bytes()]


def test_every_option_of_a_duel_stands_in_its_suite() -> None:
    fields: dict[str, Any] = {"method": "POST", "path": "/a?b=c", "rate": "500/s"}
    fields |= {"headers": {"Accept": "text/html"}, "body": '{"name": "Ada"}', "status": 201}
    backends = {"postgresql": "agents", "redis": None}
    question = duel.Question(**fields, connections=7, backends=backends)
    servers = ("A=b gunicorn -b :{port} app", "python3 -m http.server {port}", "http://[::1]:8080")
    text = suite_of(*servers, folder=Path(), question=question)
    assert text == Path(__file__).with_name("duel.toml").read_text()
    assert load(Path("duel.toml"), Registry(), text=text).repeat.until == 0.05


def test_paths_of_a_moved_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    table = relative_to(tmp_path / "x/results", contender("./serve app.py {port}").table)
    assert (table["command"], table["directory"]) == (["../../serve", "app.py", "{port}"], "../..")
    sandbox = contender("./serve {port}").table
    assert relative_to(tmp_path, sandbox) == sandbox
    for folder, dataset in ((Path(), "./data"), (tmp_path / "x", "../data")):
        tables = tomllib.loads(suite_of("./serve {port}", folder=folder, question=OWN_DATA))
        assert tables["backends"]["redis"]["dataset"] == dataset
    away = relative_to(tmp_path / "x", contender(f"{sys.executable} {{port}}").table)
    assert away["command"] == [sys.executable, "{port}"]


@given(words=WORDS, label=st.from_regex(r"[A-Za-z0-9_-]{1,9}", fullmatch=True))
def test_words_reach_the_command_as_a_shell_splits_them(words: list[str], label: str) -> None:
    given_words = ["serve", *words, "{port}"]
    line = shlex.join(given_words)
    shells = {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"}
    if shells & {*words}:
        return
    servers = labelled([contender(line), contender("http://127.0.0.1")], [label, f"{label}2"])
    written = duel.text(duel.tables_of(servers, duel.Question(wrk=True), Path()))
    assert tomllib.loads(written)["servers"][label]["command"] == given_words


@given(servers=st.integers(2, 12), time_s=st.floats(0.1, 1e6))
def test_a_plan_has_blocks_for_an_interval(servers: int, time_s: float) -> None:
    times = duel.trial_times(servers, time_s)
    short = duel.too_short(servers, duel.Question(time_s=time_s))
    assert bool(short) == (time_s < 3 * servers * (times.load_s + times.warmup_s + 1.5))
    assert times.load_s > 0
    assert times.warmup_s > 0
    assert 3 <= times.blocks <= 200
    assert ("until" in duel.repeated(times.blocks)) == (times.blocks >= 4)
    assert duel.repeated(4, 0.02)["until"] == "2%"
    if servers <= 4 and time_s >= 60:  # the first answer, after three blocks
        assert 3 * servers * (times.load_s + times.warmup_s + 1.5) <= 60


@given(
    st.integers(2, 6), st.floats(1, 1000), st.booleans(), st.integers(1, 64), st.floats(1e-5, 0.01)
)
@settings(max_examples=20, deadline=None)
def test_commands_take_turns(
    servers: int, time_s: float, wrk: bool, connections: int, answer_s: float
) -> None:
    times = duel.trial_times(servers, time_s)
    contenders = labelled([contender("serve {port}")] * servers, [f"s{n}" for n in range(servers)])
    question = duel.Question(time_s=time_s, wrk=wrk)
    tables = duel.tables_of(contenders, question, Path())
    turns = {
        **tables,
        **duel.in_turns(tables, question, duel.slice_of(servers, connections, answer_s)),
    }
    assert not refusal(turns)
    repeat = as_table(turns["repeat"])
    slice_s = int(str(repeat["interleave"]).removesuffix("ms")) / 1000
    assert 0.1 <= slice_s <= 0.3
    if servers == 2 and time_s >= 60:
        assert slice_s == 0.3 or slice_s >= connections * answer_s  # ends are a part of it
    assert as_table(tables["repeat"]) == {**duel.repeated(times.blocks), "warmup": repeat["warmup"]}


@pytest.mark.parametrize(
    ("second", "rate", "turns"),
    [
        ("b {port}", "500/s", False),
        ("http://127.0.0.1:8000", None, False),
        ("b {port}", None, True),
    ],
)
def test_urls_and_rates_take_no_turns(second: str, rate: str | None, *, turns: bool) -> None:
    contenders = labelled([contender("a {port}"), contender(second)], ())
    tables = duel.tables_of(contenders, duel.Question(rate=rate, wrk=True), Path())
    tables |= duel.in_turns(tables, duel.Question(), 100)
    assert bool(refusal(tables)) is not turns


@given(st.dictionaries(st.sampled_from("abcde"), st.floats(1e-6, 1.0), min_size=2))
def test_a_server_that_stands_still_for_long_takes_no_turns(seconds: dict[str, float]) -> None:
    others = len(seconds) - 1
    slow = duel.too_slow(seconds)
    assert bool(slow) == (max(seconds.values()) * 50 * others > 0.5)
    assert not slow or seconds[slow.partition(" ")[0]] > 0.01 / others


@pytest.mark.parametrize(
    ("servers", "labels"),
    [
        (("serve {port}", "other {port}"), ["serve", "other"]),
        (("serve {port}", "serve --threads=4 {port}"), ["serve", "serve-threads-4"]),
        (("serve -w 1 {port}", "serve -w 2 {port}"), ["serve-1", "serve-2"]),
        (("serve a:app {port}", "serve b:app {port}"), ["a-app", "b-app"]),
        (("serve a:app {port}", "serve {port}"), ["serve-a-app", "serve"]),
        (("s a {port}", "s b {port}", "other {port}"), ["s-a", "s-b", "other"]),
        (("serve {port}", "serve {port}"), ["serve-1", "serve-2"]),
        (("TOKEN=abc serve {port}", "serve {port}"), ["serve-1", "serve-2"]),
        (("serve {port}", f"serve {'x' * 40} {{port}}"), ["serve-1", "serve-2"]),
        (("http://localhost:81", "http://127.0.0.1:82"), ["port-81", "port-82"]),
    ],
)
def test_a_label_differs_by_command(servers: tuple[str, ...], labels: list[str]) -> None:
    assert list(labelled([contender(server) for server in servers], ())) == labels


def test_slow_starts_leave_time_for_loads() -> None:
    slow = duel.trial_times(2, 60.0, 8.0)
    assert slow.load_s > 1
    assert slow.blocks == 3
    assert duel.trial_times(2, 60.0, 1.5).load_s == 1
    assert duel.trial_times(2, 180.0) == duel.TrialTimes(warmup_s=1, load_s=5, blocks=12)
