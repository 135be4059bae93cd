"""The machine's facts: which are hard, and whether they, the interpreters and the wires stayed."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, needed
from hypothesis import given
from hypothesis import strategies as st
from made.plain import header, named, observation, trial, usage
from suite_texts.files import suite_text
from suite_texts.with_wrk import trials

from benchforge.checks.limits import limits
from benchforge.checks.machine import clock
from benchforge.checks.server import development, resources
from benchforge.model.files import result as environment
from benchforge.model.files.result import Header
from benchforge.model.suite.code import Interpreter
from benchforge.model.trial.trial import Link, StartedProcess, Trial
from benchforge.run.machine.facts import facts, hard_facts

JSON = st.none() | st.booleans() | st.integers() | st.text(max_size=5)


def test_hard_facts_are_all_named_and_told() -> None:
    actual = facts()
    of_one_machine = set(environment.HARD) - {"hosts"}
    assert set(hard_facts()) == of_one_machine <= set(actual)
    assert set(environment.SOFT) - {"clock_sync"} <= set(actual)
    assert actual["cpu"]
    assert actual["kernel"] == os.uname().release
    assert hard_facts() == hard_facts()


def test_the_machine_is_not_named_by_its_own_number(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/machine-id").write_text("0123456789abcdef\n")
    text = str(facts(tmp_path)["machine_id"])
    assert len(text) == 16
    assert text not in "0123456789abcdef"
    assert hard_facts(tmp_path)["kernel_arguments"] is None


@pytest.mark.parametrize(
    ("supplies", "mains"),
    [
        ({}, None),
        ({"BAT0": {"type": "Battery", "status": "Full"}}, None),
        ({"AC": {"type": "Mains", "online": "1"}, "BAT0": {"type": "Battery"}}, True),
        ({"AC": {"type": "Mains", "online": "0"}}, False),
        ({"AC": {"type": "Mains"}}, None),
    ],
)
def test_a_machine_on_battery_is_told(
    tmp_path: Path, supplies: dict[str, dict[str, str]], mains: bool | None
) -> None:
    for name, files in supplies.items():
        for file, content in files.items():
            path = tmp_path / "sys/class/power_supply" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
    assert hard_facts(tmp_path)["mains"] is mains


MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / {} rw,nosuid,nodev shared:4 - tmpfs none rw
31 22 0:27 / /other rw - xfs /dev/vdb rw
"""


@pytest.mark.parametrize(
    ("index", "file_system"),
    [("in memory", "tmpfs"), ("in memory/deep", "tmpfs"), ("in memory, not", "ext4")],
)
def test_where_scratch_folders_lie_is_a_fact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: str, file_system: str
) -> None:
    (tmp_path / index).mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / index))
    (tmp_path / "proc/self").mkdir(parents=True)
    mounted = str(tmp_path / "in memory").replace(" ", r"\040")
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS.format(mounted))
    assert facts(tmp_path)["scratch_file_system"] == file_system


@given(st.dictionaries(st.sampled_from(environment.HARD), JSON), st.dictionaries(st.text(), JSON))
def test_the_fingerprint_of_hard_facts(hard: dict[str, Any], others: dict[str, Any]) -> None:
    others = {name: value for name, value in others.items() if name not in environment.HARD}
    assert environment.fingerprint(hard) == environment.fingerprint(others | hard)
    assert not list(environment.changes(hard, hard | others))


@given(st.sampled_from(environment.HARD), JSON, JSON)
def test_another_value_is_another_fingerprint_and_is_told(name: str, then: Any, newer: Any) -> None:
    same = json.dumps(then) == json.dumps(newer)
    prints = {environment.fingerprint({name: item}) for item in (then, newer)}
    assert (len(prints) == 1) == same
    if then != newer:
        (changes,) = environment.changes({name: then}, {name: newer})
        assert changes.startswith(f"{name} was ")


def test_a_fact_within_a_fact_is_told_by_its_path() -> None:
    then: dict[str, Any] = {"sysctl": {"net.core.somaxconn": "128", "net.core.busy_poll": "0"}}
    newer: dict[str, Any] = {"sysctl": {"net.core.somaxconn": "4096", "net.core.busy_poll": "0"}}
    says = "sysctl.net.core.somaxconn was '128', is '4096'"
    assert list(environment.changes(then, newer)) == [says]


def test_g1_passes_fails_and_does_not_know() -> None:
    entries = header(fingerprint="f")
    same, other = trial(fingerprint="f"), trial(fingerprint="g", changed_facts=("smt was 1, is 0",))

    def status(top: Header, *trials: Trial) -> tuple[str, str]:
        (of_session,) = clock.unchanged(top, trials, limits())
        return of_session.status, of_session.message

    assert status(entries, same)[0] == "pass"
    assert status(entries, same, other)[0] == "fail"
    assert "smt was 1, is 0" in status(entries, other)[1]
    assert status(entries, trial())[0] == "unknown"
    assert status(header(), same)[0] == "unknown"


def runtime(version: str, **more: str) -> Interpreter:
    build = f"{version} (a build)"
    actual = {"executable": "/x/python", "implementation": "CPython", "real_path": f"/x/{version}"}
    return Interpreter(**(actual | {"version": version, "build": build} | more), packages={})


@pytest.mark.parametrize(
    ("label", "wanted", "version", "status"),
    [
        ("py312", "./env/bin/python", "3.12.1", "pass"),
        ("py312", "./env/bin/python", "3.10.13", "fail"),
        ("newest", "./py3.12/bin/python", "3.10.13", "fail"),
        ("newest", "3.12", "3.10.13", "fail"),
        ("pypy3.9", "pypy3", "3.9.16", "pass"),
        ("node22", "/opt/thing-3.2/bin/python", "3.11.7", "pass"),
        ("v30", "/srv/2024/python", "3.11.7", "pass"),
    ],
)
def test_d4_holds_a_runtime_to_its_name(label: str, wanted: str, version: str, status: str) -> None:
    top = header(runtimes={label: runtime(version, requested=wanted)})
    (of_session,) = development.runtimes(top, (), limits())
    assert (of_session.id, of_session.status, of_session.component) == ("D4", status, label)
    assert status == "pass" or version in of_session.message


def test_d4_names_two_runtimes_that_are_one() -> None:
    top = header(runtimes={"a": runtime("3.11.1"), "b": runtime("3.11.1"), "c": runtime("3.12.0")})
    actual = [(item.component, item.status) for item in development.runtimes(top, (), limits())]
    assert actual == [("a", "pass"), ("b", "warn"), ("c", "pass")]


@pytest.mark.parametrize(
    ("executable", "status"),
    [
        ("/x/python3.12", "pass"),
        ("/x/python3.10", "fail"),
        ("/x/pypy3.9", "fail"),
        ("/x/uwsgi", "unknown"),
        (None, "unknown"),
    ],
)
def test_d4_of_what_really_ran(executable: str | None, status: str) -> None:
    fields: dict[str, Any] = {"label": "server-a", "argv": ("python",), "environment": {}}
    fields |= {"stdout": "o", "stderr": "e", "exit_code": 0, "interpreter": "/x/python3.12"}
    started = StartedProcess(executable=executable, **fields)
    (of_trial,) = development.interpreters(trial(processes=(started,)), limits())
    assert (of_trial.status, of_trial.subject) == (status, "apparatus")


def spoken(server: str, **links: Link) -> Trial:
    observed = observation(usage("backend", label="backend-b", cpu_s=0))
    return trial(case=named(server), observation=observed, encryption=links)


@pytest.mark.parametrize(
    ("link", "other", "status"),
    [
        ("plain", {"b": "plain"}, "pass"),
        ("tls", {"b": "tls"}, "pass"),
        ("plain", {"b": "none"}, "pass"),
        ("tls", {"b": "plain"}, "fail"),
        ("tls", {"b": "none"}, "fail"),
        ("mixed", {"b": "mixed"}, "fail"),
        ("tls", {}, "unknown"),  # nobody heard it
    ],
)
def test_w4(link: Link, other: dict[str, Link], status: str) -> None:
    sides = [[spoken("x", b=link)], [spoken("y", **other)]]
    (of_comparison,) = resources.encryption(sides, limits())
    assert (of_comparison.id, of_comparison.status) == ("W4", status)
    assert not other or "x" in of_comparison.message
    assert not list(resources.encryption(sides[:1], limits()))


def test_encryption_of_the_servers_is_recorded(bench: Bench, tmp_path: Path) -> None:
    needed("redis-server")
    command = f"'{sys.executable}', '{PROGRAMS}/servers/talks.py', '--port', '{{port}}'"
    (tmp_path / "two.toml").write_text(suite_text("run/machine/environment", command=command))
    call = bench("run", "two.toml", "--json")
    assert call.code in {0, 4}, call.all
    spoken_by = {item["case"]["server"]: item["encryption"] for item in trials(tmp_path)}
    assert spoken_by == {"plain": {"store": "plain"}, "tls": {"store": "tls"}}
    summary = json.loads(call.out)
    checks = [*summary["comparisons"][0]["checks"], *summary["checks"]]
    statuses = {check["id"]: check["status"] for check in checks}
    assert (statuses["W4"], statuses["G1"]) == ("fail", "pass")
    of_trials = [check for item in trials(tmp_path) for check in item["checks"]]
    assert {check["status"] for check in of_trials if check["id"] == "D4"} <= {"pass"}
