"""Placement: each role on its CPUs, in words, on recorded machines and with real processes."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, WAITS_S, Bench, answering, lack, needed
from hypothesis import given
from hypothesis import strategies as st
from suite_texts.files import suite_text
from suite_texts.with_wrk import trials

from benchforge.model.values.cpus import Cpus
from benchforge.parts.registry import Registry
from benchforge.run.machine.placement import CpuTopology, describe_placement, machine, places
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.suite import Suite

USABLE = Cpus.of(os.sched_getaffinity(0))
# Four cores of two threads each, numbered as Linux does on most machines of Intel.
SMT = {cpu: f"{cpu % 4},{cpu % 4 + 4}" for cpu in range(8)}


def two_cpus() -> tuple[int, int]:
    """The first and the last CPU that can be used here."""
    if len(USABLE) < 2:
        lack("one CPU only")
    return USABLE[0], USABLE[-1]


# --- sets of CPUs --------------------------------------------------------------------------------


@given(st.sets(st.integers(0, 99_999), min_size=1, max_size=50))
def test_what_is_written_is_read_back(numbers: set[int]) -> None:
    cpus = Cpus.of(numbers)
    assert set(Cpus.parse(str(cpus))) == numbers == set(Cpus.parse(list(numbers)))
    assert Cpus.parse(f"  {str(cpus).replace(',', ' , ')} ") == cpus


@given(st.text(alphabet="0123456789-, ", max_size=12))
def test_a_text_names_cpus_or_is_refused(text: str) -> None:
    try:
        cpus = Cpus.parse(text)
    except ValueError:
        return
    assert cpus == tuple(sorted(set(cpus))) != ()
    named = {int(end) for item in text.split(",") for end in item.split("-")}
    assert named <= set(cpus)
    assert {cpus[0], cpus[-1]} <= named


@pytest.mark.parametrize("wrong", ["", "3-1", "0-", "-1", "0;1", "a", "1e1", "٣", "0-100000"])
def test_what_is_no_set_of_cpus(wrong: str) -> None:
    with pytest.raises(ValueError, match="should be CPUs such as"):
        Cpus.parse(wrong)
    others: list[object] = [[], [-1], [True], ["0"], [100_000], 3, None, {}]
    for value in others:
        with pytest.raises(ValueError, match="should be CPUs such as"):
            Cpus.parse(value)


def test_a_set_is_written_as_the_kernel_writes_it() -> None:
    for numbers in (set(USABLE), {USABLE[0]}, set(USABLE[::2])):
        moves = f"import os; os.sched_setaffinity(0, {sorted(numbers)})"
        words = [sys.executable, "-c", f"{moves}; print(open('/proc/self/status').read())"]
        check_output = subprocess.check_output(words, text=True)
        (line,) = (
            line for line in check_output.splitlines() if line.startswith("Cpus_allowed_list")
        )
        assert str(Cpus.of(numbers)) == line.split()[1]


# --- who is put where ----------------------------------------------------------------------------


def recorded(folder: Path, siblings: dict[int, str]) -> Path:
    for cpu, listed in siblings.items():
        topology = folder / f"sys/devices/system/cpu/cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{listed}\n")
    return folder


def suite(folder: Path, top: str = "", more: str = "") -> Path:
    file = folder / "placed.toml"
    file.write_text(f"""benchforge = 1
loaders.pace = {{ use = "pace", connections = 2, duration = "300ms" }}
scenarios.ping = {{ request = {{ path = "/ping" }}, servers = ["one"], loaders = ["pace"] }}
{top}
[servers.one]
{answering()}
[repeat]
blocks = 1
quiet = "off"
{more}
""")
    return file


def read(folder: Path, top: str = "", more: str = "") -> Suite:
    return load(suite(folder, top, more), Registry())


def test_cores_are_found_whole_and_without_cpus_that_are_not_ours(tmp_path: Path) -> None:
    root = recorded(tmp_path, SMT)
    assert [str(core) for core in machine(root, range(8)).cores] == ["0,4", "1,5", "2,6", "3,7"]
    assert [str(core) for core in machine(root, {0, 1, 5}).cores] == ["0", "1,5"]
    assert machine(root, {0, 1, 5}).usable == (0, 1, 5)
    nowhere = machine(tmp_path / "none", {0, 2})
    assert nowhere.cores == ((0,), (2,))


@pytest.mark.parametrize(
    ("cores", "server", "loader"),
    [
        ([(0,), (1,)], "0", "1"),
        ([(0, 4), (1, 5), (2, 6), (3, 7)], "0-2,4-6", "3,7"),
        ([(cpu,) for cpu in range(16)], "0-11", "12-15"),
    ],
)
def test_auto_keeps_the_load_tool_from_all_others_by_whole_cores(
    tmp_path: Path, cores: list[tuple[int, ...]], server: str, loader: str
) -> None:
    cpu_topology = CpuTopology(tuple(Cpus(core) for core in cores))
    document = read(tmp_path, 'placement = "auto"')
    actual = places(document, cpu_topology)
    assert {role: str(cpus) for role, cpus in actual.items()} == {
        "server": server,
        "upstream": server,
        "backend": server,
        "loader": loader,
    }
    assert list(describe_placement(document, actual, cpu_topology)) == [
        f"CPUs: {server} for server; {loader} for loader"
    ]


def test_cpus_of_parts_that_are_not_there_are_not_shared(tmp_path: Path) -> None:
    cpu_topology = CpuTopology((Cpus((0,)), Cpus((1,))))
    document = read(tmp_path, "", '[placement]\nserver = "0"\nloader = "1"')
    assert list(describe_placement(document, places(document, cpu_topology), cpu_topology)) == [
        "CPUs: 0 for server; 1 for loader"
    ]


def test_one_core_is_shared_whatever_is_asked_and_it_is_said(tmp_path: Path) -> None:
    cpu_topology = CpuTopology((Cpus((0, 1)),))
    document = read(tmp_path, 'placement = "auto"')
    assert places(document, cpu_topology) == {}
    (line,) = describe_placement(document, {}, cpu_topology)
    assert line == "CPUs 0-1, shared by all: placement = 'auto' needs two cores"


def test_by_default_nobody_is_put_anywhere(tmp_path: Path) -> None:
    cpu_topology = CpuTopology((Cpus((0,)), Cpus((1,))))
    document = read(tmp_path)
    assert places(document, cpu_topology) == {}
    assert list(describe_placement(document, {}, cpu_topology)) == ["CPUs 0-1, shared by all"]


def test_a_core_that_is_shared_with_the_load_tool_is_told(tmp_path: Path) -> None:
    cpu_topology = CpuTopology((Cpus((0, 2)), Cpus((1, 3))))
    written = '[placement]\nserver = "0"\nupstream = "1"\nbackend = [1]\nloader = "2"'
    document = read(tmp_path, "", written)
    actual = places(document, cpu_topology)
    assert actual == {"server": (0,), "upstream": (1,), "backend": (1,), "loader": (2,)}
    assert list(describe_placement(document, actual, cpu_topology)) == [
        "CPUs: 0 for server; 2 for loader",
        "warning: the load tool shares one core with others: CPUs 0,2",
    ]


def test_a_suite_that_places_makes_other_cases(tmp_path: Path) -> None:
    texts = ["", 'placement = "off"', 'placement = "auto"']
    actual = [next(iter(expand(read(tmp_path, text)))).name.digest for text in texts]
    given_cpus = read(tmp_path, "", '[placement]\nserver = "0"')
    actual.append(next(iter(expand(given_cpus))).name.digest)
    assert actual[0] == actual[1]
    assert len(set(actual)) == 3


def test_a_setting_replaces_all_of_it(tmp_path: Path) -> None:
    file = suite(tmp_path, "", '[placement]\nserver = "0"')
    assert load(file, Registry(), settings=[("placement", '"off"')]).placement == "off"
    profiled = suite(tmp_path, "", '[placement]\nserver = "0"\n[profiles.free]\nplacement = "off"')
    assert load(profiled, Registry(), profile="free").placement == "off"


# --- with real processes -------------------------------------------------------------------------


def test_cpus_that_are_not_here_are_refused_at_their_line(bench: Bench, tmp_path: Path) -> None:
    file = suite(tmp_path, "", '[placement]\nserver = "0,99998"\nloader = [99999]')
    bench("plan", file, code=0)  # to be run elsewhere
    done = bench("run", file, code=2)
    assert "placed.toml:13:1: placement.server: this machine gives no CPU 99998" in done.err
    assert "placed.toml:14:1: placement.loader: this machine gives no CPU 99999" in done.err
    assert f"hint: available CPUs: {USABLE}" in done.err
    assert not (tmp_path / "results").exists()


@contextmanager
def answering_here() -> Iterator[str]:
    """Serve as a program that nobody of us started would."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, str(PROGRAMS / "servers/answers.py"), "--port", str(port)]
    process = subprocess.Popen(words)
    try:
        deadline = time.monotonic() + WAITS_S
        while True:
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def checked(trial: dict[str, Any], name: str) -> dict[str, Any]:
    (actual,) = (check for check in trial["checks"] if check["id"] == name)
    return dict(actual)


def test_every_process_is_where_it_was_put(bench: Bench, tmp_path: Path) -> None:
    needed("postgres", "nginx")
    first, last = two_cpus()
    file = tmp_path / "all.toml"
    file.write_text(suite_text("run/machine/placement", first=first, last=last))
    done = bench("run", "--details", file, code=0)
    assert f"CPUs: {first} for server, upstream; {last} for backend, loader" in done.err
    (header,) = tmp_path.glob("results/*/result.json")
    request = {"server": str(first), "upstream": str(first)}
    request |= {"backend": str(last), "loader": str(last)}
    assert json.loads(header.read_text())["placement"] == request
    for trial in trials(tmp_path):
        placed = trial["placement"]
        assert (placed["cpus"], placed["elsewhere"]) == (request, [])
        assert placed["seen"]["upstream-behind"] >= 3
        assert placed["seen"]["server-front"] >= 2
        assert placed["seen"]["backend-agents"] >= 5
        assert {part["label"] for part in trial["observation"]["usage"]} <= placed["seen"].keys()
        assert checked(trial, "placement")["status"] == "pass"
    assert len(trials(tmp_path)) == 2
    bench("validate", header.parent, code=0)
    where = f"{first} for server, upstream; {last} for backend, loader"
    assert done.out.count(f"CPUs: {where}") == 1
    assert (header.parent / "report.md").read_text().count(where) == 1
    assert (header.parent / "report.html").read_text().count(where) == 1


def test_a_running_server_has_an_unknown_placement(bench: Bench, tmp_path: Path) -> None:
    with answering_here() as url:
        file = suite(tmp_path, "", f'[placement]\nserver = "{USABLE[0]}"')
        file.write_text(file.read_text().replace(answering(), f'use = "url"\nurl = "{url}"\n'))
        done = bench("run", file)
    assert done.code in {0, 4}, (
        done.all
    )  # the load tool may use the server's CPU: P1, if it is busy
    screen = " ".join(done.out.split())
    assert re.search(r"→ \d+ more caveats?: benchforge report --why", screen), screen
    assert "placement" in bench("report", "--why").out
    (report,) = tmp_path.glob("results/*/report.md")
    assert "unknown: on which CPUs it runs was not seen: server-one" in report.read_text()
    (trial,) = trials(tmp_path)
    assert checked(trial, "placement")["status"] == "unknown"


def test_the_server_itself_sees_its_cpus(bench: Bench, tmp_path: Path) -> None:
    _, last = two_cpus()
    words = [sys.executable, str(PROGRAMS / "servers/says_who.py"), "--port", "{port}"]
    file = suite(tmp_path, "", f'[placement]\nserver = "{last}"')
    file.write_text(file.read_text().replace(answering(), f'use = "command"\ncommand = {words}\n'))
    done = bench("run", file)
    assert done.code in {0, 4}, done.all  # as above
    (out,) = tmp_path.glob("results/*/trials/0001/server-one.out")
    assert json.loads(out.read_text())["cpus"] == [last]


def test_a_daemon_that_went_elsewhere_is_told_by_name(bench: Bench, tmp_path: Path) -> None:
    first, last = two_cpus()
    words = [sys.executable, str(PROGRAMS / "servers/wanders.py"), str(last), "--port", "{port}"]
    file = suite(
        tmp_path,
        "",
        "[placement]\n"
        + "".join(f'{role} = "{first}"\n' for role in ("server", "upstream", "backend", "loader")),
    )
    file.write_text(file.read_text().replace(answering(), f'use = "command"\ncommand = {words}\n'))
    done = bench("run", "--details", file, code=0)
    (trial,) = trials(tmp_path)
    (stray,) = trial["placement"]["elsewhere"]
    assert (stray["label"], stray["cpus"], stray["processes"]) == ("server-one", str(last), 1)
    assert stray["program"].startswith("python")
    check = checked(trial, "placement")
    assert check["status"] == "warn"
    assert f"{stray['program']} of server-one may use CPUs {last}" in check["message"]
    assert "not on the CPUs that they were given" in done.out


def test_without_placement_nothing_is_looked_at(bench: Bench, tmp_path: Path) -> None:
    assert f"CPUs {USABLE}, shared by all" in bench("run", suite(tmp_path), code=0).err
    (trial,) = trials(tmp_path)
    assert trial["placement"] is None
    assert "placement" not in {check["id"] for check in trial["checks"]}
