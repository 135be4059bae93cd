"""Placement: each role on its CPUs, in words, on recorded machines and with real processes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, lack, needed
from hypothesis import given
from hypothesis import strategies as st
from planted.beside import program
from serving.apps import accepts, free_port, running
from suite_texts.files import suite_text
from suite_texts.with_pace import alone
from suite_texts.with_wrk import trials

from benchforge.model.values.cpus import Cpus
from benchforge.parts.registry import Registry
from benchforge.run.machine.placement import CpuTopology, describe_placement, machine, places
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.suite import Suite

USABLE = Cpus.of(os.sched_getaffinity(0))


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
        lines = subprocess.check_output(words, text=True).splitlines()
        (line,) = (line for line in lines if line.startswith("Cpus_allowed_list"))
        assert str(Cpus.of(numbers)) == line.split()[1]


# --- who is put where ----------------------------------------------------------------------------


AUTO = 'placement = "auto"'
WARNS = "warning: the load tool shares one core with others"


def suite(folder: Path, program: str = "", /, **roles: str) -> Path:
    """Write a suite that puts roles on CPUs."""
    placed = "".join(f"{role} = {cpus}\n" for role, cpus in roles.items())
    return alone(folder, program, more=f"[placement]\n{placed}" if placed else "")


def read(folder: Path, top: str = "", **roles: str) -> Suite:
    file = suite(folder, **roles)
    return load(file, Registry(), text=f"{top}\n{file.read_text()}")


def test_cores_are_found_whole_and_without_cpus_that_are_not_ours(tmp_path: Path) -> None:
    """Four cores of two threads each, numbered as Linux does on most machines of Intel."""
    for cpu in range(8):
        topology = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    cores = machine(tmp_path, range(8)).cores
    assert [str(core) for core in cores] == ["0,4", "1,5", "2,6", "3,7"]
    assert machine(tmp_path, {0, 1, 5}) == CpuTopology((Cpus.of({0}), Cpus.of({1, 5})))
    assert machine(tmp_path, {0, 1, 5}).usable == (0, 1, 5)
    assert machine(tmp_path / "none", {0, 2}).cores == ((0,), (2,))


SHARED = "CPUs 0-1, shared by all"
OF_TWO = "CPUs: 0 for server; 1 for loader"
OF_FOUR = "CPUs: 0-2,4-6 for server; 3,7 for loader"
ON_ONE_CORE = f"CPUs: 0 for server; 2 for loader\n{WARNS}: CPUs 0,2"
SIXTEEN = " ".join(map(str, range(16)))
PLACED = {"server": '"0"', "upstream": '"1"', "backend": "[1]", "loader": '"2"'}
ROLES = ("server", "upstream", "backend", "loader")


@pytest.mark.parametrize(
    ("cores", "top", "roles", "cpus", "lines"),
    [
        ("0 1", AUTO, {}, "0 0 0 1", OF_TWO),
        ("0,4 1,5 2,6 3,7", AUTO, {}, "0-2,4-6 0-2,4-6 0-2,4-6 3,7", OF_FOUR),
        (SIXTEEN, AUTO, {}, "0-11 0-11 0-11 12-15", "CPUs: 0-11 for server; 12-15 for loader"),
        ("0,1", AUTO, {}, "- - - -", f"{SHARED}: placement = 'auto' needs two cores"),
        ("0 1", "", {}, "- - - -", SHARED),
        ("0,2 1,3", "", PLACED, "0 1 1 2", ON_ONE_CORE),
        ("0 1", "", {"server": '"0"', "loader": '"1"'}, "0 - - 1", OF_TWO),
    ],
    ids=["auto", "auto of 4", "auto of 16", "auto of 1", "default", "a core shared", "no backend"],
)
def test_roles_have_their_cpus(
    tmp_path: Path, cores: str, top: str, roles: dict[str, str], cpus: str, lines: str
) -> None:
    """`auto` keeps the load tool from all others by whole cores."""
    cpu_topology = CpuTopology(tuple(map(Cpus.parse, cores.split())))
    document = read(tmp_path, top, **roles)
    actual = places(document, cpu_topology)
    of_roles = zip(ROLES, cpus.split(), strict=True)
    assert {role: str(item) for role, item in actual.items()} == {
        role: item for role, item in of_roles if item != "-"
    }
    assert "\n".join(describe_placement(document, actual, cpu_topology)) == lines


def test_a_suite_that_places_makes_other_cases(tmp_path: Path) -> None:
    suites = [read(tmp_path, text) for text in ("", 'placement = "off"', AUTO)]
    suites.append(read(tmp_path, server='"0"'))
    first, off, *others = (next(iter(expand(item))).name.digest for item in suites)
    assert first == off
    assert len({first, *others}) == 3


def test_a_setting_replaces_all_of_it(tmp_path: Path) -> None:
    file = suite(tmp_path, server='"0"')
    assert load(file, Registry(), settings=[("placement", '"off"')]).placement == "off"
    text = f'{file.read_text()}\n[profiles.free]\nplacement = "off"'
    assert load(file, Registry(), profile="free", text=text).placement == "off"


# --- with real processes -------------------------------------------------------------------------


def test_cpus_that_are_not_here_are_refused_at_their_line(bench: Bench, tmp_path: Path) -> None:
    file = suite(tmp_path, server='"0,99998"', loader="[99999]")
    bench("plan", file, code=0)  # to be run elsewhere
    done = bench("run", file, code=2)
    assert "alone.toml:21:1: placement.server: this machine gives no CPU 99998" in done.err
    assert "alone.toml:22:1: placement.loader: this machine gives no CPU 99999" in done.err
    assert f"hint: available CPUs: {USABLE}" in done.err
    assert not (tmp_path / "results").exists()


def checked(trial: dict[str, Any], name: str) -> dict[str, Any]:
    (actual,) = (check for check in trial["checks"] if check["id"] == name)
    return dict(actual)


def test_every_process_is_where_it_was_put(bench: Bench, tmp_path: Path) -> None:
    needed("postgres", "nginx")
    first, last = two_cpus()
    file = tmp_path / "all.toml"
    file.write_text(suite_text("run/machine/placement", first=first, last=last))
    done = bench("run", "--details", file, code=0)
    where = f"{first} for server, upstream; {last} for backend, loader"
    assert f"CPUs: {where}" in done.err
    request = {"server": str(first), "upstream": str(first)}
    request |= {"backend": str(last), "loader": str(last)}
    assert json.loads((done.result / "result.json").read_text())["placement"] == request
    for trial in trials(tmp_path):
        placed = trial["placement"]
        assert (placed["cpus"], placed["elsewhere"]) == (request, [])
        assert placed["seen"]["upstream-behind"] >= 3
        assert placed["seen"]["server-front"] >= 2
        assert placed["seen"]["backend-agents"] >= 5
        assert {part["label"] for part in trial["observation"]["usage"]} <= placed["seen"].keys()
        assert checked(trial, "placement")["status"] == "pass"
    assert len(trials(tmp_path)) == 2
    bench("validate", done.result, code=0)
    assert done.out.count(f"CPUs: {where}") == 1
    for form in ("md", "html"):
        assert (done.result / f"report.{form}").read_text().count(where) == 1


def test_a_running_server_has_an_unknown_placement(bench: Bench, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    words = [sys.executable, str(PROGRAMS / "servers/answers.py"), "--port", str(port)]
    with running(words, tmp_path, {}, log, lambda: accepts(port)):  # nobody of us started it
        server = f'use = "url"\nurl = "http://127.0.0.1:{port}"\n'
        done = bench("run", suite(tmp_path, server, server=f'"{USABLE[0]}"'))
    # 4: the load tool may use the server's CPU, which is P1 if it is busy.
    assert done.code in {0, 4}, done.all
    screen = " ".join(done.out.split())
    assert re.search(r"→ \d+ more caveats?: benchforge report --why", screen), screen
    assert "placement" in bench("report", "--why").out
    (report,) = tmp_path.glob("results/*/report.md")
    assert "unknown: on which CPUs it runs was not seen: server-one" in report.read_text()
    (trial,) = trials(tmp_path)
    assert checked(trial, "placement")["status"] == "unknown"


def test_a_daemon_that_went_elsewhere_is_told_by_name(bench: Bench, tmp_path: Path) -> None:
    first, last = two_cpus()
    wanders = program("servers/wanders.py", last, "--port", "{port}")
    roles = dict.fromkeys(("server", "upstream", "backend", "loader"), f'"{first}"')
    done = bench("run", "--details", suite(tmp_path, wanders, **roles), code=0)
    (trial,) = trials(tmp_path)
    (stray,) = trial["placement"]["elsewhere"]
    assert (stray["label"], stray["cpus"], stray["processes"]) == ("server-one", str(last), 1)
    assert stray["program"].startswith("python")
    check = checked(trial, "placement")
    assert check["status"] == "warn"
    assert f"{stray['program']} of server-one may use CPUs {last}" in check["message"]
    assert "not on the CPUs that they were given" in done.out


def test_without_placement_and_tuning_nothing_is_looked_at(bench: Bench, tmp_path: Path) -> None:
    done = bench("run", suite(tmp_path), code=0)
    assert f"CPUs {USABLE}, shared by all" in done.err
    # The advice names the suite's path, which has the name of this test.
    assert "tuning" not in done.out.replace(str(tmp_path), "")
    (trial,) = trials(tmp_path)
    assert trial["placement"] is trial["tuning"] is None
    assert "placement" not in {check["id"] for check in trial["checks"]}
