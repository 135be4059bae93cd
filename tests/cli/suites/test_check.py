"""`benchforge check`: suites in all their profiles, and what they need, without a process."""

import sys
from pathlib import Path

import pytest
from front_door import Bench, captured

from benchforge.parts.command import Need
from benchforge.run.programs.needed import how

ROOT = Path(__file__).parents[3]

SUITE = """\
benchforge = 1
servers.mine = { use = "command", command = ["no-such-server", "{port}"] }
loaders.closed = { use = "pace", duration = "1s" }
scenarios.hello = { servers = ["mine"], loaders = ["closed"] }
"""


def written(folder: Path, text: str, name: str = "one.toml") -> str:
    (folder / name).write_text(text)
    return name


def test_the_suites_of_the_repository_are_good(bench: Bench) -> None:
    suites = sorted((ROOT / "suites").rglob("*.toml"))
    call = bench("check", *suites)
    assert call.code in {0, 3}, call.all  # a machine may lack a program, a suite has no error
    for suite in suites:
        assert f"{suite}: good: " in call.out


def test_check_lists_what_a_good_suite_needs(bench: Bench, tmp_path: Path) -> None:
    text = SUITE.replace("no-such-server", "sh")
    profiles = "[profiles.quick.repeat]\nblocks = 1\n[profiles.long.repeat]\nblocks = 9\n"
    call = bench("check", written(tmp_path, text + profiles), code=0)
    assert call.err == ""
    assert call.out == (
        "one.toml: good: 1 scenario, 1 case, also with --profile quick, long; needs sh\n"
    )


def test_each_missing_program_is_named_once_with_who_needs_it(bench: Bench, tmp_path: Path) -> None:
    other = SUITE.replace("hello", "other")
    call = bench("check", written(tmp_path, SUITE), written(tmp_path, other, "two.toml"), code=3)
    users = ("servers.mine in one.toml (hello)", "servers.mine in two.toml (other)")
    assert call.err.splitlines() == [
        f"error: missing program: no-such-server, for {', '.join(users)}",
        "hint: install it, or put its folder on PATH",
    ]


def test_each_suite_has_its_errors_which_outweigh_what_is_missing(
    bench: Bench, tmp_path: Path
) -> None:
    bad = SUITE.replace('"pace"', '"pcae"').replace("1s", "1 parsec")
    good = SUITE.replace("no-such-server", "sh")
    suites = [written(tmp_path, text, f"{n}.toml") for n, text in enumerate((bad, good, SUITE))]
    call = bench("check", *suites, "none.toml", code=2)
    assert "loaders.closed.use: no loader named 'pcae'" in call.err
    assert "error: none.toml: no such file" in call.err
    assert call.out.startswith("1.toml: good: ")
    assert "missing program: no-such-server" in call.err


def test_a_fault_of_a_profile_names_the_profile(bench: Bench, tmp_path: Path) -> None:
    text = SUITE.replace('"{port}"]', '"{port}"], colour = "red"')
    text += '\n[profiles.wrong.loaders.closed]\nduration = "soon"\n[profiles.fine]\nname = "x"\n'
    call = bench("check", written(tmp_path, text), code=2)
    assert call.err.count("unknown option") == 1
    assert call.err.count("soon") == 2, call.err  # the fault and its excerpt
    (line,) = [line for line in call.err.splitlines() if "duration" in line and "error:" in line]
    assert line.startswith("error: one.toml:7:")
    assert line.endswith("(with --profile wrong)")
    assert "fine" not in call.err


def test_only_one_profile_may_be_asked_for(bench: Bench, tmp_path: Path) -> None:
    text = SUITE.replace("no-such-server", "sh")
    text += '\n[profiles.wrong.loaders.closed]\nduration = "soon"\n[profiles.fine]\nname = "x"\n'
    suite = written(tmp_path, text)
    fine = bench("check", suite, "--profile", "fine")
    assert (fine.code, fine.err) == (0, "")
    assert fine.out == "one.toml: good: 1 scenario, 1 case, with --profile fine; needs sh\n"
    bench("check", suite, "--profile", "wrong", code=2)
    assert "did you mean 'fine'?" in bench("check", suite, "--profile", "fin", code=2).err


def test_settings_and_scenarios_may_be_chosen(bench: Bench, tmp_path: Path) -> None:
    text = SUITE + SUITE[SUITE.index("scenarios") :].replace("hello", "other")
    suite = written(tmp_path, text.replace("no-such-server", "sh"))
    assert "2 scenarios, 2 cases" in bench("check", suite).out
    assert "1 scenario, 1 case" in bench("check", suite, "--only", "other").out
    wrong = bench("check", suite, "--set", "loaders.closed.duration=soon", code=2)
    assert "error: --set loaders.closed.duration=soon" in wrong.err


def test_data_that_are_not_there_are_a_fault_of_its_suite(bench: Bench, tmp_path: Path) -> None:
    backend = 'backends.data = { use = "postgresql", dataset = "nowhere" }\n'
    text = SUITE.replace("loaders = [", 'backends = ["data"], loaders = [') + backend
    assert "error: one.toml" in bench("check", written(tmp_path, text), code=2).err


def test_what_only_a_process_could_tell_is_said(bench: Bench, tmp_path: Path) -> None:
    text = """\
benchforge = 1
runtimes.own = { python = "PYTHON" }
runtimes.lost = { python = "./no/such/python" }
servers.flask = { use = "gunicorn", app = "hello_flask", runtime = "own" }
servers.lost = { use = "gunicorn", app = "hello_flask", runtime = "lost" }
servers.there = { use = "url", url = "http://127.0.0.1:9" }
""".replace("PYTHON", sys.executable)
    text += SUITE[SUITE.index("loaders") :].replace('["mine"]', '["flask", "lost", "there"]')
    call = bench("check", written(tmp_path, text), code=3)
    mine = f"one.toml: not looked at: runtimes.own: whether {sys.executable}"
    assert f"{mine} has gunicorn, flask" in call.out
    assert "one.toml: not looked at: servers.there: whether it runs" in call.out
    lost = "error: missing program: ./no/such/python, for runtimes.lost in one.toml"
    assert call.err.splitlines()[0] == lost


ELSEWHERE = """
import os, sys, sysconfig
sysconfig.get_config_vars()  # which of them there are depends on the platform
sys.platform = "darwin"
for name in ("pidfd_open", "sched_getaffinity", "sched_setaffinity", "unshare"):
    if hasattr(os, name):
        delattr(os, name)
import importlib.abc
class Refuses(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in {"subprocess", "rich", "fcntl", "resource", "benchforge.run.sandbox.host"}:
            raise ImportError(f"{name} is not for a check")
sys.meta_path.insert(0, Refuses())
sys.argv = ["benchforge", "check", sys.argv[1]]
from benchforge.__main__ import main
main()
"""


def test_it_works_where_nothing_can_run(tmp_path: Path) -> None:
    """No module that starts a process, and none of Linux's own, is even imported."""
    suite = tmp_path / "one.toml"
    suite.write_text(SUITE.replace("no-such-server", "sh"))
    done = captured([sys.executable, "-c", ELSEWHERE, str(suite)])
    assert (done.returncode, done.stderr) == (0, "")
    assert "one.toml: good: 1 scenario, 1 case; needs sh" in done.stdout


@pytest.fixture
def without_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("without_apt")
def test_another_system_is_not_told_of_apt() -> None:
    package = "with this system's package manager (Debian's package is apache2-utils)"
    assert how(Need("ab", debian="apache2-utils")) == package
    assert how(Need("k6", "go install it")) == "go install it"


def test_faults_that_are_not_shown_are_counted(bench: Bench, tmp_path: Path) -> None:
    table = '[servers.s{}]\nuse = "gunicorn"\napp = "hello_wsgi"\nworkrs = 1'
    tables = [table.format(n) for n in range(100)]
    path = tmp_path / "many.toml"
    path.write_text("\n".join(["benchforge = 1", *tables, "[profiles.quick]", "smoke = true"]))
    # The twenty that are printed, and 80 of the tables with "no scenario is declared".
    assert bench("check", path, code=2).err.splitlines()[-1] == "error: and 81 more errors"
