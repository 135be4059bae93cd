"""Tuning: what a suite asks for holds inside a trial, and nothing of the machine is changed."""

import json
import os
import resource
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from front_door import Bench, captured
from suite_texts.with_pace import alone
from suite_texts.with_wrk import trials

from benchforge.model.suite.placement import AppliedTuning, Tuning
from benchforge.parts.command import Command
from benchforge.parts.registry import Registry
from benchforge.run.sandbox import keeper
from benchforge.run.sandbox.host import LocalHost, Mode, Sandbox, Wishes
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load

SYSCTLS, SOMAXCONN = Path("/proc/sys"), "net.core.somaxconn"
# What the study of 2015 sets.
STUDY: dict[str, int | str] = tomllib.loads(
    (Path(__file__).parents[3] / "suites/studies/api-hour.toml").read_text()
)["profiles"]["published"]["tuning"]["sysctl"]


def path(sysctl: str) -> Path:
    return SYSCTLS / sysctl.replace(".", "/")


def value(sysctl: str) -> str | None:
    return " ".join(path(sysctl).read_text().split()) if path(sysctl).exists() else None


@contextmanager
def private(folder: Path, sysctls: dict[str, int | str]) -> Iterator[Sandbox]:
    with LocalHost().trial(folder, wishes=Wishes(sysctls)) as sandbox:
        if sandbox.mode.network != "private":
            pytest.skip(f"no private network here: {sandbox.mode.weaker}")
        yield sandbox


def tuned(folder: Path, sysctls: dict[str, int | str]) -> Mode:
    with private(folder, sysctls) as sandbox:
        return sandbox.mode


# --- sysctls -------------------------------------------------------------------------------------


def test_a_study_of_2015_is_applied_inside_the_trial(tmp_path: Path) -> None:
    first = {name: value(name) for name in STUDY}
    mode = tuned(tmp_path, STUDY)
    assert {name: value(name) for name in STUDY} == first
    names = {f"sysctl.{name}" for name in STUDY}
    assert mode.applied.keys() | mode.refused.keys() == names
    assert not mode.applied.keys() & mode.refused.keys()
    for name, holds in mode.applied.items():
        assert holds == str(STUDY[name.removeprefix("sysctl.")])
    assert {"sysctl.net.core.somaxconn", "sysctl.net.ipv4.tcp_sack"} <= mode.applied.keys()
    elsewhere = "not of a private network"
    assert mode.refused["sysctl.kernel.shmmax"] == mode.refused["sysctl.fs.file-max"] == elsewhere
    assert mode.weaker == ()


def test_the_processes_of_a_trial_see_what_was_applied(tmp_path: Path) -> None:
    with private(tmp_path, {SOMAXCONN: 77}) as sandbox:
        cat = Command("cat", path(SOMAXCONN))
        assert sandbox.run("cat", cat, tmp_path, {}, 200).stdout.read_text() == "77\n"
    assert value(SOMAXCONN) != "77"


@pytest.mark.skipif(os.getuid() != 0, reason="only root may ask for a network alone")
def test_no_name_that_a_private_network_can_write_is_the_machines() -> None:
    """Compared as files, of all names that there are: nothing is written to find it out."""
    program = """
import ctypes, json, os
CLONE_NEWNET = 0x40000000
def held():
    found = {}
    for folder, _, names in os.walk("/proc/sys/net"):
        for name in names:
            path = os.path.join(folder, name)
            if os.stat(path).st_mode & 0o200:
                found[path] = os.open(path, os.O_PATH)
    return found
machines = held()
assert ctypes.CDLL(None).unshare(CLONE_NEWNET) == 0
own = held()
same = [one for one in own if one in machines
        and os.path.samestat(os.fstat(own[one]), os.fstat(machines[one]))]
print(json.dumps([len(own), same]))
"""
    done = captured([sys.executable, "-c", program], check=True)
    count, same = json.loads(done.stdout)
    assert count > 100
    assert same == []


def test_what_the_machine_itself_has_is_told_from_a_network_of_ones_own(tmp_path: Path) -> None:
    """The comparison that the keeper makes finds a file that is the same in both places."""
    name = SOMAXCONN
    machines = keeper._open_sysctls([name])
    first = value(name)
    try:
        with pytest.raises(ValueError, match="the machine's own is the same"):
            keeper._set_sysctl(name, "77", machines, own_network=True)
    finally:
        os.close(machines[name])
    assert value(name) == first


def test_no_module_is_loaded_for_a_trial(tmp_path: Path) -> None:
    name = "net.ipv4.tcp_congestion_control"
    first = value("net.ipv4.tcp_available_congestion_control")
    mode = tuned(tmp_path, {name: "no-such"})
    assert first is not None
    there_are = ", ".join(first.split())
    assert mode.refused == {f"sysctl.{name}": f"not loaded; the kernel has {there_are}"}
    assert value("net.ipv4.tcp_available_congestion_control") == first


def test_in_the_hosts_network_no_sysctl_is_applied(tmp_path: Path) -> None:
    first = value(SOMAXCONN)
    with LocalHost().trial(tmp_path, "host", Wishes({SOMAXCONN: 77})) as sandbox:
        assert sandbox.mode.applied == {}
        actual = {f"sysctl.{SOMAXCONN}": "the trial uses the machine's own network"}
        assert sandbox.mode.refused == actual
    assert value(SOMAXCONN) == first


def test_a_value_that_the_kernel_does_not_take_is_refused(tmp_path: Path) -> None:
    mode = tuned(tmp_path, {SOMAXCONN: "many", "net.ipv4.no_such": 1})
    assert mode.refused == {
        f"sysctl.{SOMAXCONN}": "Invalid argument",
        "sysctl.net.ipv4.no_such": "this kernel does not have it",
    }


def test_an_old_kernel_is_not_trusted_to_keep_them_apart(tmp_path: Path) -> None:
    """Told to be old by its name, the kernel that is here: nothing is written."""
    program = """
import sys
from pathlib import Path
from benchforge.run.sandbox.host import LocalHost, Wishes
with LocalHost().trial(Path(sys.argv[1]), wishes=Wishes({"net.core.somaxconn": 77})) as here:
    print(here.mode.network, here.mode.refused)
"""
    first = value("net.core.somaxconn")
    done = captured(["setarch", "--uname-2.6", sys.executable, "-c", program, tmp_path], check=True)
    if "private" not in done.stdout:
        pytest.skip("no private network here")
    assert "before Linux 5.13 it may be the machine's own" in done.stdout
    assert value("net.core.somaxconn") == first


# --- limits --------------------------------------------------------------------------------------


def test_limits_hold_for_every_process_of_a_trial(tmp_path: Path) -> None:
    machines = resource.getrlimit(resource.RLIMIT_NOFILE)
    program = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    with LocalHost().trial(tmp_path, wishes=Wishes(limits={"nofile": 512})) as sandbox:
        asks = Command(sys.executable, "-c", program)
        assert sandbox.run("asks", asks, tmp_path, {}, 200).stdout.read_text() == "512 512\n"
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == machines


def test_a_limit_that_cannot_be_raised_is_refused_with_what_holds(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    beyond = int(Path("/proc/sys/fs/nr_open").read_text()) + 1  # root may not either
    wishes = Wishes(limits={"nofile": beyond, "core": 2**70})
    with LocalHost().trial(tmp_path, wishes=wishes) as sandbox:
        assert sandbox.mode.applied == {}
        actual = sandbox.mode.refused["limits.nofile"]
        assert actual.endswith(f": {soft} holds, {hard} is the highest allowed")
        assert "too large" in sandbox.mode.refused["limits.core"]
        cat = Command("cat", "/proc/self/limits")
        held = sandbox.run("cat", cat, tmp_path, {}, 200).stdout.read_text()
    (line,) = (line for line in held.splitlines() if line.startswith("Max open files"))
    assert line.split()[3:5] == [str(soft), str(hard)]


# --- in a suite ----------------------------------------------------------------------------------


def test_a_suite_says_what_it_asks_for_and_it_belongs_to_the_case(tmp_path: Path) -> None:
    request = '[tuning.sysctl]\n"net.core.somaxconn" = 512\n[tuning.limits]\nnofile = 64\n'
    file = alone(tmp_path, more=request)
    read = load(file, Registry())
    assert read.tuning == Tuning(sysctl={"net.core.somaxconn": 512}, limits={"nofile": 64})
    (case,) = expand(read)
    assert case.tuning == read.tuning
    settings = [("tuning.limits.nofile", "65"), ('tuning.sysctl."net.core.somaxconn"', "513")]
    changed = load(file, Registry(), settings=settings)
    assert changed.tuning == Tuning(sysctl={"net.core.somaxconn": 513}, limits={"nofile": 65})
    (other,) = expand(changed)
    assert other.name.digest != case.name.digest


def test_a_run_records_it_and_every_report_tells_it_once(bench: Bench, tmp_path: Path) -> None:
    request = '[tuning.sysctl]\n"net.core.somaxconn" = 512\n"kernel.shmmax" = 5\n'
    done = bench("run", "--details", alone(tmp_path, more=request), code=0)
    (trial,) = trials(tmp_path)
    if trial["namespaces"]["network"] != "private":
        pytest.skip("no private network here")
    assert trial["tuning"] == {
        "applied": {"sysctl.net.core.somaxconn": "512"},
        "refused": {"sysctl.kernel.shmmax": "not of a private network"},
    }
    text = "1 applied; not applied: kernel.shmmax (not of a private network)"
    assert done.out.count(f"tuning: {text}") == 1
    for form in ("md", "html"):
        assert (done.result / f"report.{form}").read_text().count(text) == 1
    bench("validate", done.result, code=0)


def test_what_is_told_for_a_person() -> None:
    assert AppliedTuning(applied={"limits.nofile": "5"}, refused={}).in_words == "1 applied"
