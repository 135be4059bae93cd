"""Flows from the server's side: each later step carries what its own earlier steps gave."""

import json
from pathlib import Path

import pytest
from front_door import Bench, needed_tool
from hypothesis import given
from hypothesis import strategies as st
from measured.case import cases, read_trial
from present import present
from suite_texts.files import suite_text

from benchforge.checks.answers.counted import shares as of_mix
from benchforge.checks.limits import limits
from benchforge.model.trial.trial import Trial
from benchforge.suite.mix.drivers import flow_values
from benchforge.suite.mix.holes import Template, named

STEPS = ("add", "show", "pay")


PACE = 'use = "pace"\nconnections = 4'
RIGHT = {"R1": "pass", "R2": "pass"}


def suite(folder: Path, loader: str = PACE, faults: str = "", duration: str = "") -> Path:
    holes = {"length": duration or ("0.4s" if "pace" in loader else "1s"), "loader": loader}
    holes["words"] = f', "{faults}"' if faults else ""
    path = folder / "carts.toml"
    path.write_text(suite_text("run/mix/flows", folder=folder, **holes))
    return path


def shares(trial: Trial) -> dict[str, str]:
    """Return what the checks of the mix say."""
    return {check.id: check.status for check in of_mix(trial, limits())}


def steps_of(folder: Path) -> dict[str, list[tuple[str, bool]]]:
    """Return what the server saw of each cart."""
    entries: dict[str, list[tuple[str, bool]]] = {}
    for line in (folder / "carts.log").read_text().splitlines():
        step, cart, right = json.loads(line)
        if "benchforge-asks" not in cart:
            entries.setdefault(cart, []).append((step, right))
    return entries


LOADERS = [
    'use = "pace"\nconnections = 1',
    'use = "pace"\nconnections = 6\nprocesses = 2',
    'use = "pace"\nconnections = 4\nkeep_alive = false',
    'use = "pace"\nconnections = 4\nthink = "3ms"',
    'use = "pace"\nconnections = 50\nrate = "500/s"',
]
BY_K6 = ["users = 1", "users = 6", 'users = 50\nrate = "200/s"']
# What ends a flow early: the fault of the server, the class of the error, and the reason.
ENDS = [
    ("lines", "take", "the value at 'json:/cart/number' has a control character"),
    ("long", "take", "the answer has more than 256 KiB"),
    ("longer", "take", "the value at 'json:/cart/number' has 5000 characters: 4096 at most"),
    ("type", "take", "the value at 'json:/cart/number' is neither a text nor a number"),
    ("true", "take", "the value at 'json:/cart/number' is neither a text nor a number"),
    ("missing", "take", "the answer has no value at 'json:/cart/number'"),
    ("text", "take", "the answer is not JSON"),
    ("status", "status", "status 500 ended the flow"),
    ("close", "closed", ""),
]


@pytest.mark.samples(4)
@pytest.mark.parametrize("loader", LOADERS)
def test_each_step_carries_what_its_own_flow_was_given(tmp_path: Path, loader: str) -> None:
    steps_are_those_of_their_flows(tmp_path, loader)


@pytest.mark.parametrize("options", BY_K6)
def test_so_does_each_step_of_k6(tmp_path: Path, options: str) -> None:
    needed_tool('use = "k6"')
    steps_are_those_of_their_flows(tmp_path, f'use = "k6"\n{options}')


def steps_are_those_of_their_flows(tmp_path: Path, loader: str) -> None:
    (case,) = cases(suite(tmp_path, loader))
    trial, reading = read_trial(case, tmp_path)
    carts = steps_of(tmp_path)
    assert all(right for steps in carts.values() for _, right in steps)
    full = [cart for cart, steps in carts.items() if len(steps) == 3]
    assert len(full) > 20
    assert all([step for step, _ in carts[cart]] == ["made", "shown", "paid"] for cart in full)
    kinds = reading.kinds
    assert list(kinds) == ["buy.add", "buy.show", "buy.pay", "made"]
    assert sum(kind.responses for kind in kinds.values()) == reading.responses
    assert reading.good_at_most == reading.responses
    assert [kinds[f"buy.{step}"].not_reached for step in STEPS] == [None, 0, 0]
    unfinished = kinds["buy.add"].responses - kinds["buy.pay"].responses
    assert 0 <= unfinished <= (present(trial.load).connections or 0)
    assert shares(trial) == RIGHT


@pytest.mark.samples(3)
@pytest.mark.parametrize(("fault", "error", "reason"), ENDS)
def test_an_early_end_counts_steps(tmp_path: Path, fault: str, error: str, reason: str) -> None:
    (case,) = cases(suite(tmp_path, faults=fault))
    trial, reading = read_trial(case, tmp_path)
    kinds = reading.kinds
    ended = kinds["buy.add"].not_reached, kinds["buy.show"].not_reached
    assert ended == (None, kinds["buy.pay"].not_reached)
    if error != "status":
        assert kinds["buy.add"].errors[error] == ended[1]
    assert 5 < (ended[1] or 0) < kinds["buy.add"].responses
    reasons = reading.printed["reasons"]
    assert isinstance(reasons, dict)
    assert not reason or any(text.endswith(f"buy.add: {reason}") for text in reasons), reasons
    carts = steps_of(tmp_path)
    assert all(right for steps in carts.values() for _, right in steps)
    assert all("\n" not in cart for cart in carts)
    assert shares(trial) == RIGHT


@pytest.mark.parametrize(
    ("fault", "error"), [(fault, error) for fault, error, _ in ENDS if fault != "close"]
)
def test_k6_counts_them_too(tmp_path: Path, fault: str, error: str) -> None:
    loader = 'use = "k6"\nusers = 4'
    needed_tool(loader)
    (case,) = cases(suite(tmp_path, loader, fault))
    trial, reading = read_trial(case, tmp_path)
    kinds = reading.kinds
    ended = [kinds[f"buy.{step}"].not_reached for step in STEPS]
    assert ended == [None, kinds["buy.add"].errors[error], kinds["buy.add"].errors[error]]
    assert (ended[1] or 0) > 5
    all_kinds = sum(kind.errors.get(error, 0) for kind in kinds.values())
    assert reading.errors[error] == all_kinds
    assert all(right for steps in steps_of(tmp_path).values() for _, right in steps)
    assert shares(trial) == RIGHT


AT_RATE = 'use = "pace"\nconnections = 50\nrate = "200/s"'


@pytest.mark.parametrize("loader", [PACE, AT_RATE, 'use = "k6"\nusers = 4'])
def test_a_user_thinks_between_the_steps_of_a_flow(tmp_path: Path, loader: str) -> None:
    needed_tool(loader)
    path = suite(tmp_path, loader, duration="1s")
    path.write_text(path.read_text().replace("share = 3", 'share = 3\nthink = "50ms"'))
    (case,) = cases(path)
    trial, reading = read_trial(case, tmp_path)
    kinds, planned = reading.kinds, present(trial.stream).kinds
    assert [kinds[f"buy.{step}"].not_reached for step in STEPS] == [None, 0, 0]
    assert [planned[f"buy.{step}"].think_s for step in STEPS] == [None, 0.05, 0.05]
    assert kinds["buy.pay"].responses > 5
    if "rate" not in loader:  # two pauses for each flow of a user, however fast the server is
        assert kinds["buy.pay"].responses <= 4 * reading.seconds / 0.1
    assert all(right for steps in steps_of(tmp_path).values() for _, right in steps)
    assert shares(trial) == RIGHT


def test_a_run_has_a_row_for_each_step_and_is_verified(bench: Bench, tmp_path: Path) -> None:
    path = suite(tmp_path, faults="missing")
    claim = 'scenario = "shop"\nmetric = "latency"\nof = "p50"\na = { kind = "buy.pay" }\n'
    path.write_text(f'{path.read_text()}[claims.paying]\n{claim}holds = "a < 10s"\n')
    run = bench("plan", path, "--requests", "2", code=0)
    assert "buy.show: follows buy.add" in run.out
    assert "GET /cart/{cart}" in run.out
    assert "X-Key: {key}" in run.out
    assert "note={note}&count={count}&card=1" in run.out
    ran = bench("run", "--details", path)
    assert ran.code in {0, 4}, ran.all
    assert "paying" in ran.out
    text = " ".join(ran.out.split())
    assert "buy.pay: not reached by" in text, text
    for report in ("report.md", "report.html"):
        content = (ran.result / report).read_text()
        assert "buy.pay: not reached by" in content
        assert "y kind of request" in content
    assert ">buy.pay</th>" in content
    bench("verify", ran.result, code=0)


@given(st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=30), st.data())
def test_a_load_tool_escapes_as_the_stream_does(value: str, data: st.DataObject) -> None:
    texts = {"path": "/a/{x}?b={x}", "json": '{"a": "{x}", "b": {x}}', "form": "a={x}"}
    texts["header"] = "a {x}"
    drawn = data.draw(st.sampled_from(sorted(texts)))
    template = Template(texts[drawn], drawn, "json value" if drawn == "json" else "")
    rest = template.left({})
    parts = (
        item if isinstance(item, str) else flow_values.written(value, item[1]) for item in rest
    )
    assert template.fill({"x": value}) == "".join(parts)
    assert named(rest) == texts[drawn]


@given(st.text(max_size=20), st.sampled_from(["path", "raw path", "header", "form", "json"]))
def test_no_value_begins_another_line(value: str, path: str) -> None:
    step = {
        "method": "GET",
        "path": ["/", ["x", path if "path" in path else "path"]],
        "headers": [["X-Value", [["x", "header"]]]] if path == "header" else [],
        "body": [["x", path]] if path in {"form", "json"} else None,
    }
    try:
        values = flow_values.taken({"x": "json:/x"}, {}, {}, json.dumps({"x": value}).encode())
        sent = flow_values.request(step, values, {}, "Host: a\r\n")
    except flow_values.NoValue:
        return
    head, _, body = sent.partition(b"\r\n\r\n")
    names = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:]]
    lengths = [b"Content-Length"] if step["body"] is not None else []
    wanted = [b"X-Value"] if path == "header" else []
    assert names == [*wanted, *lengths, b"Host"]
    assert head.split(b"\r\n")[0].count(b" ") == 2
    assert b"\n" not in body
