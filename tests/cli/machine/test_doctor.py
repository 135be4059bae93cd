"""`benchforge doctor`: findings of recorded machines and of this one; packages are fetched."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, captured, lack, needed
from hypothesis import given
from hypothesis import strategies as st
from measured.once import made_once
from suite_texts.files import suite_text

from benchforge.cli.machine.doctor import machine
from benchforge.cli.machine.doctor.finding import MachineFinding
from benchforge.cli.machine.doctor.limits import limit_findings
from benchforge.run.machine.quiet import Look, look
from benchforge.run.sandbox.sandbox import Mode

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "benchforge/cli/machine/doctor/debian.sh"
Done = subprocess.CompletedProcess[str]


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return root


def states(findings: Iterable[MachineFinding]) -> dict[str, str]:
    return {finding.subject: finding.state for finding in findings}


def said(findings: Iterable[MachineFinding], subject: str) -> MachineFinding:
    (actual,) = [finding for finding in findings if finding.subject == subject]
    return actual


MACHINES = tomllib.loads(Path(__file__).with_name("doctor_machines.toml").read_text())
LAPTOP, QUIET = MACHINES["laptop"], MACHINES["quiet"]
"Files of /proc and /sys by path."

PRIVATE = Mode(pid_namespace=True, network="private", shared_memory="private", weaker=())


def found(root: Path, mode: Mode | str = PRIVATE) -> list[MachineFinding]:
    earlier = later = look(root)
    return [
        *machine.cpu_findings(root),
        *machine.load_findings(root, earlier, later, frozenset()),
        *machine.memory_findings(root),
        *limit_findings(root),
        *machine.network_findings(root),
        *machine.isolation_findings(root, mode),
    ]


@pytest.mark.parametrize("name", MACHINES)
def test_a_recorded_machine_has_the_findings_that_are_stored(tmp_path: Path, name: str) -> None:
    findings = found(tree(tmp_path, MACHINES[name]))
    lines = [f"{it.state:8} {it.subject}: {it.says}; {it.do}".rstrip("; ") for it in findings]
    assert "\n".join([*lines, ""]) == Path(__file__).with_name(f"doctor_{name}.txt").read_text()


def test_what_the_kernel_does_not_tell_is_unknown(tmp_path: Path) -> None:
    actual = states(found(tmp_path, "nothing could be started"))
    assert set(actual.values()) == {"unknown"}
    for name in QUIET:
        (tmp_path / "folders" / name).mkdir(parents=True)
    assert set(states(found(tmp_path / "folders", "not started")).values()) == {"unknown"}
    assert len(actual) == len(states(found(tree(tmp_path, QUIET))))


HOSTILE = ["", "\0", "\xff\xfe", "max", "-", "0-", "9" * 5000, "1 2 3", "::::\n:", "[", "NaN", "²"]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_nonsense_of_the_kernel_is_never_a_pass(tmp_path: Path, content: str) -> None:
    for name in LAPTOP.keys() | QUIET.keys() | {"proc/stat", "proc/loadavg", "proc/7/stat"}:
        tree(tmp_path, {name: content})
    actual = states(found(tmp_path, "nothing could be started"))
    # A number or a word may be a value by chance: of what has a form of its own, nothing passes.
    for subject in ("SMT", "turbo", "swap", "memory", "huge pages", "ASLR", "open files"):
        assert actual[subject] == "unknown", subject
    for subject in ("pressure", "other processes", "steal", "virtual machine", "usable CPUs"):
        assert actual[subject] == "unknown", subject


@given(st.dictionaries(st.sampled_from(sorted({*LAPTOP, "proc/stat", "proc/loadavg"})), st.text()))
def test_any_text_of_a_machine_ends_in_ok_warn_or_unknown(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    try:
        actual = states(found(tree(root, files)))
    except UnicodeEncodeError:  # a lone surrogate is no file
        return
    assert set(actual.values()) <= {"ok", "warn", "unknown"}


STAT = "cpu  {busy} 0 0 {idle} 0 0 0 {steal} 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0\n"


def process(name: str, user: int, system: int) -> str:
    return f"7 ({name}) S 1 7 7 0 -1 4194560 1 0 0 0 {user} {system} 0 0 20 0 1 0 1\n"


def test_who_else_uses_the_cpus_is_named_the_busiest_first(tmp_path: Path) -> None:
    files = {
        "proc/stat": STAT.format(busy=1000, idle=1000, steal=0),
        "proc/11/stat": process("quiet", 500, 0),
        "proc/12/stat": process("od) d (", 10, 10),
        "proc/13/stat": process("benchforge", 0, 0),
    }
    first = look(tree(tmp_path / "before", files))
    files = {
        "proc/stat": STAT.format(busy=1110, idle=1080, steal=10),
        "proc/loadavg": "1.50 0.50 0.10 1/100 999\n",
        "proc/11/stat": process("quiet", 501, 0),
        "proc/12/stat": process("od) d (", 40, 40),
        "proc/13/stat": process("benchforge", 20, 0),
        "proc/14/stat": process("new\n\x1b[31m", 4, 5),
    }
    root = tree(tmp_path / "after", files)
    findings = list(machine.load_findings(root, first, look(root), frozenset({13})))
    others = said(findings, "other processes")
    assert others.state == "warn"
    assert others.says == (
        "they use 45 % of the CPUs, the most by od) d ( (process 12, 60 %), "
        "new??[31m (process 14, 9 %), quiet (process 11, 1 %)"
    )
    assert said(findings, "steal").says == "5 % of the CPUs' time was given to other machines"
    assert said(findings, "load average").state == "warn"


def test_a_quiet_second_is_ok(tmp_path: Path) -> None:
    root = tree(tmp_path, {"proc/stat": STAT.format(busy=5, idle=995, steal=0)})
    actual = states(machine.load_findings(root, Look(2, 0, 0, 0, {}), look(root), frozenset()))
    assert (actual["other processes"], actual["steal"]) == ("ok", "ok")


def test_one_cpu_and_a_hypervisor_are_told(tmp_path: Path) -> None:
    files = {"proc/self/status": "Cpus_allowed_list:\t3\n", "proc/cpuinfo": "flags: hypervisor\n"}
    actual = states(machine.cpu_findings(tree(tmp_path, files)))
    assert (actual["usable CPUs"], actual["virtual machine"]) == ("warn", "warn")


def test_a_trial_that_shares_is_told_with_why_and_what_is_weaker(tmp_path: Path) -> None:
    weaker = ("no private namespaces: EPERM",)
    mode = Mode(pid_namespace=False, network="host", shared_memory="host", weaker=weaker)
    findings = list(machine.isolation_findings(tmp_path, mode))
    network = said(findings, "own network")
    assert network.state == said(findings, "own processes").state == "warn"
    assert network.says.startswith(f"{weaker[0]}: counts include connections of others")


def test_doctor_warns_of_a_disk_that_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert states(machine.space_findings({"results": tmp_path / "to/be/made"})) == {
        "disk: results": "ok"
    }
    usage = shutil.disk_usage(tmp_path)._replace(free=5_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert states(machine.space_findings({"results": tmp_path})) == {"disk: results": "warn"}


def test_without_a_suite_it_tells_of_everything_and_ends_with_0(bench: Bench) -> None:
    run = bench("doctor", code=0)
    assert "\x1b" not in run.out  # colour is for terminals
    titles = [line for line in run.out.splitlines() if " " not in line]
    assert titles == ["programs", "interpreters", "packages", "machine"]
    for line in run.out.splitlines():
        if line not in titles:
            assert re.match(r"(ok|warn|missing|unknown) +\S", line)
    for program in ("wrk", "ab", "postgres", "nginx", "openssl", "hyperfine", "k6"):
        assert re.search(rf"^(ok|missing) +{program} ", run.out, re.MULTILINE), program
    assert f"CPython {sys.version.split()[0]}" in run.out


def test_json_says_the_same(bench: Bench) -> None:
    run = bench("doctor", "--json", code=0)
    report = json.loads(run.out)
    assert list(report) == ["programs", "interpreters", "packages", "code", "machine"]
    everything = [item for value in report.values() for item in value]
    assert all(item.keys() == {"state", "subject", "says", "do"} for item in everything)
    assert {item["subject"] for item in report["machine"]} >= {"swap", "governor", "own network"}


SUITE = """\
benchforge = 1
servers.mine = {{ use = "command", command = ["{program}"] }}
loaders.closed = {{ use = "{loader}", duration = "1s" }}
scenarios.hello = {{ servers = ["mine"], loaders = ["closed"] }}
"""


def suite(folder: Path, program: str = "sh", loader: str = "pace") -> str:
    (folder / "one.toml").write_text(SUITE.format(program=program, loader=loader))
    return "one.toml"


def test_of_a_suite_only_what_it_needs_is_told(bench: Bench, tmp_path: Path) -> None:
    first, second, third, *_ = bench("doctor", suite(tmp_path), code=0).out.splitlines()
    assert (first, third) == ("programs", "machine")
    assert re.match(r"ok +sh +/.*/sh$", second)
    run = bench("doctor", suite(tmp_path, "no-such-server"), code=3)
    line = r"^missing +no-such-server +for servers.mine \(hello\); install"
    assert re.search(line, run.out, re.MULTILINE)
    assert "no loader named 'wkr'" in bench("doctor", suite(tmp_path, loader="wkr"), code=2).err


def test_doctor_asks_the_interpreters_of_a_suite(bench: Bench, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    (tmp_path / "one.toml").write_text(suite_text("cli/machine/doctor", bare=bare))
    run = bench("doctor", "one.toml", "--json", code=3)
    actual = {load["subject"]: load for load in json.loads(run.out)["interpreters"]}
    assert actual["runtimes.own"]["state"] == "ok"
    assert actual["runtimes.own"]["says"].endswith("with waitress, flask")
    assert actual["runtimes.bare"]["state"] == "missing"
    assert "lacks waitress, flask" in actual["runtimes.bare"]["says"]
    assert "no interpreter '2.7'" in actual["runtimes.old"]["says"]


def machine_without(folder: Path, *hidden: str) -> str:
    """Return a PATH that leads to everything but some programs."""
    folder.mkdir()
    for path in ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for file in Path(path).iterdir():
            sandbox = folder / file.name
            if file.name not in hidden and not sandbox.is_symlink():
                sandbox.symlink_to(file)
    return str(folder)


def with_benchforge(environment: Path) -> Path:
    """Make an environment that has benchforge and is of no clone."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    theirs = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "theirs.pth").write_text(f"import site; site.addsitedir({theirs!r})\n")
    return environment


@pytest.fixture
def elsewhere(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An interpreter that has benchforge and is of no clone, and a machine without siege."""
    needed("apt-get", "dpkg", "flock")
    environment = made_once(tmp_path_factory, "elsewhere", with_benchforge)
    passed = {name: os.environ[name] for name in os.environ if name.upper().endswith("_PROXY")}
    return {
        **passed,
        "PATH": machine_without(tmp_path / "bin", "siege", "k6"),
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PYTHON": str(environment / "bin/python"),
    }


def call(environment: dict[str, str], folder: Path, *words: str) -> Done:
    words = (environment["PYTHON"], "-m", "benchforge", *words)
    done = captured(words, env=environment, cwd=folder)
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.network
def test_a_package_is_fetched_only_once(elsewhere: dict[str, str], tmp_path: Path) -> None:
    name = suite(tmp_path, loader="siege")
    first_ = call(elsewhere, tmp_path, "check", name)
    assert first_.returncode == 3, first_.stdout
    assert f"hint: benchforge doctor --install {name} fetches without root: siege" in first_.stderr
    into = tmp_path / "data/benchforge/system"
    first = call(elsewhere, tmp_path, "doctor", "--install", name)
    assert first.returncode == 0, first.stderr
    assert re.fullmatch(rf"siege \S+ -> {into}", first.stdout.splitlines()[-1])
    assert (into / "usr/bin/siege").exists()
    assert call(elsewhere, tmp_path, "check", name).returncode == 0
    actual = call(elsewhere, tmp_path, "doctor", name)
    assert actual.returncode == 0
    line = rf"^ok +siege +{into}/usr/bin/siege: SIEGE \d"
    assert re.search(line, actual.stdout, re.MULTILINE), actual.stdout
    again = call(elsewhere, tmp_path, "doctor", "--install", name)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == "nothing to fetch: all Debian packages are installed\n"
    assert [path.name for path in into.parent.iterdir()] == ["system"]


def test_what_cannot_be_fetched_is_exit_3(elsewhere: dict[str, str], tmp_path: Path) -> None:
    done = call(elsewhere, tmp_path, "doctor", "--install", suite(tmp_path, loader="k6"))
    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == "error: missing program: k6"
    assert "go.k6.io" in done.stderr
    (tmp_path / "bin/apt-get").unlink()
    done = call(elsewhere, tmp_path, "doctor", "--install", suite(tmp_path, loader="siege"))
    assert done.returncode == 3
    assert "error: apt-get is missing" in done.stderr
    assert "Debian's package is siege" in done.stderr
    assert not (tmp_path / "data/benchforge/system").exists()


def debian(folder: Path, *packages: str, inside: Sequence[str] = ()) -> Done:
    words = [*inside, "sh", *map(str, (SCRIPT, folder)), *packages]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.network
def test_adding_keeps_what_is_there_and_an_unknown_name_spoils_nothing(tmp_path: Path) -> None:
    needed("apt-get", "dpkg", "flock")
    folder = tmp_path / "of a user/system"
    (folder.parent / ".system.abcdef/tree").mkdir(parents=True)  # a killed one left it
    assert debian(folder, "wrk").returncode == 0
    (folder / "usr/bin/mine").touch()
    second = debian(folder, "wrk", "no-such-package", "siege")
    assert second.returncode == 3
    lost = "debian: no-such-package: the package sources of this system do not have it\n"
    assert second.stderr == lost
    assert [line.split()[1] for line in second.stdout.splitlines()] == ["siege"]
    for name in ("wrk", "siege", "mine"):
        assert (folder / "usr/bin" / name).exists()
    listed = (folder / ".packages").read_text().splitlines()
    assert {line.split()[0] for line in listed} >= {"wrk", "siege"}
    assert [path.name for path in folder.parent.iterdir()] == ["system"]


def test_killed_while_it_replaced_the_folder_nothing_is_lost(tmp_path: Path) -> None:
    needed("apt-get", "dpkg", "flock")
    work = tmp_path / ".system.a1B2c3"
    tree(work, {"old/.packages": "wrk 4.1\n", "old/usr/bin/wrk": "", "tree/usr/bin/siege": ""})
    done = debian(tmp_path / "system", "wrk")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "system/usr/bin/wrk").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["system"]


def test_killed_at_its_end_the_next_call_clears_away_what_it_left(tmp_path: Path) -> None:
    needed("flock")
    stored = {"system/.packages": "wrk 4.1\n", ".system.a1B2c3/lists/x": ""}
    tree(tmp_path, {**stored, ".system.mine": ""})
    hold = ["flock", str(tmp_path), "sh", "-c", "echo; read _"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(hold, text=True, **pipes) as another:
        assert another.stdout is not None
        another.stdout.readline()
        assert debian(tmp_path / "system", "wrk").returncode == 0
        assert (tmp_path / ".system.a1B2c3").exists()  # it may be of the one that works
        another.communicate("\n")
    done = debian(tmp_path / "system", "wrk")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"system", ".system.mine"}


def test_without_a_network_it_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    needed("apt-get", "dpkg", "flock", "unshare")
    alone = ("unshare", "--map-root-user", "--net")
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        lack("a network of its own")
    done = debian(tmp_path / "system", "siege", inside=alone)
    assert done.returncode == 3
    assert "the lists of packages cannot be fetched: is there a network?" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_changes_no_folder(elsewhere: dict[str, str], tmp_path: Path) -> None:
    name = suite(tmp_path, loader="siege")
    path = tmp_path / "data/benchforge"
    words = [elsewhere["PYTHON"], "-m", "benchforge", "doctor", "--install", name]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(words, env=elsewhere, cwd=tmp_path, **pipes)
    deadline = time.monotonic() + 300
    while not list(path.glob(".system.*/apt.conf")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert list(path.iterdir()) == []
