"""Runtimes: found by what they say, built once, asked from inside, and told in the result."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, captured, lack, needed
from suite_texts.files import suite_text

from benchforge.errors import ProgramMissing, Unusable
from benchforge.model.files.folder import read_header, read_trials
from benchforge.parts.registry import Registry
from benchforge.run import locate
from benchforge.run.disk.leftovers import cache
from benchforge.run.programs.interpreters import find
from benchforge.run.programs.runtimes import Ready, own, ready
from benchforge.run.sandbox.host import LocalHost
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.suite import Suite

HOST = LocalHost()
NOWHERE = "benchforge-no-such-package-xyz"
APP = """
import platform

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [platform.python_implementation().encode()]
"""
PY312 = '[runtimes.py312]\npython = "3.12"\nrequires = ["gunicorn==23.0.0"]\n'
PYPY = '[runtimes.pypy]\npython = "pypy3"\nrequires = ["gunicorn==23.0.0"]\n'


@pytest.fixture(autouse=True)
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of our own; what uv has downloaded stays where it is."""
    with pytest.MonkeyPatch.context() as patch:
        uvs = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uv"
        patch.setenv("UV_CACHE_DIR", os.environ.get("UV_CACHE_DIR", str(uvs)))
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "benchforge/runtimes"


@pytest.fixture
def interpreter(tmp_path: Path) -> Callable[[str], str]:
    """Return an interpreter that is there, or leave the test."""

    def there(python: str) -> str:
        with HOST.trial(tmp_path / "there", "host") as sandbox:
            try:
                find(sandbox, python, "test", tmp_path, tmp_path / "there")
            except ProgramMissing as error:
                if python == "pypy3":
                    lack(error.message)
                pytest.skip(error.message)  # Debian has one CPython
        return python

    return there


def written(folder: Path, runtimes: str, runtime: str = "py312", scenario: str = "") -> Path:
    (folder / "mine.py").write_text(APP)
    path = folder / "small.toml"
    holes = {"runtimes": runtimes, "runtime": runtime, "scenario": scenario}
    path.write_text(suite_text("run/programs/runtimes", **holes))
    return path


def loaded(path: Path) -> Suite:
    return load(path, Registry())


def made(suite: Suite, says: list[str]) -> dict[str, Ready]:
    return ready(suite, (part for case in expand(suite) for part in case.parts), HOST, says.append)


def from_inside(python: Path) -> dict[str, str]:
    """What the interpreter's own importlib.metadata says, without any of our code."""
    program = (
        "import importlib.metadata, json; print(json.dumps({one.metadata['Name']: one.version "
        "for one in importlib.metadata.distributions()}))"
    )
    environment = {**os.environ, **locate.libraries(python)}
    done = captured([python, "-I", "-c", program], env=environment, check=True)
    packages: dict[str, str] = json.loads(done.stdout)
    return packages


# --- run by the front door -----------------------------------------------------------------------


@pytest.mark.network
def test_two_interpreters(bench: Bench, tmp_path: Path, interpreter: Callable[[str], str]) -> None:
    needed("uv")
    interpreter("3.12")
    interpreter("pypy3")
    vary = 'vary = { "servers.one.runtime" = ["py312", "pypy"] }'
    path = written(tmp_path, PY312 + PYPY, scenario=vary)
    call = bench("run", "--details", path, code=4)  # what they answer is their Python: they differ
    assert "py312 is CPython 3.12." in call.out
    folder, header = call.result, read_header(call.result)
    declared = {label: header.runtimes[label] for label in ("py312", "pypy")}
    assert [value.implementation for value in declared.values()] == ["CPython", "PyPy"]
    assert header.versions["gunicorn (py312)"] == header.versions["gunicorn (pypy)"] == "23.0.0"
    assert "23.0.0" in header.versions["server-gunicorn (pypy)"]
    assert len({case.digest for case in header.cases}) == 2
    really = {}
    for trial in read_trials(folder):
        label = trial.case.vary["servers.one.runtime"]
        answer = folder / f"trials/{trial.number:04d}/answer.bin"
        assert answer.read_text() == header.runtimes[str(label)].implementation
        really[label] = trial.processes[0].executable
    for label, facts in declared.items():
        assert facts.packages == from_inside(Path(facts.executable))
        assert really[label] == str(Path(facts.executable).resolve())
        lock = (folder / f"runtimes/{label}.txt").read_bytes()
        assert facts.lock_sha256 == hashlib.sha256(lock).hexdigest()
        assert b"gunicorn==23.0.0" in lock
        assert b"--hash=sha256:" in lock
    assert "pypy is PyPy 3." in (folder / "report.md").read_text()
    assert "pypy is PyPy 3." in (folder / "report.html").read_text()
    bench("validate", folder, code=0)
    (folder / "runtimes/pypy.txt").write_text("gunicorn==22\n")
    (folder / "runtimes/py312.txt").unlink()
    damaged = bench("validate", folder, code=1)
    assert "runtimes.pypy.lock_sha256: is not the digest" in damaged.out
    assert "runtimes.py312.lock_sha256: no such file" in damaged.out


def test_no_requirements_need_no_environment(bench: Bench, tmp_path: Path) -> None:
    runtimes = f'[runtimes.py312]\npython = "{sys.executable}"\n'
    path = written(tmp_path, runtimes)
    text = path.read_text().replace('servers = ["one"]', 'servers = ["one", "ours"]')
    path.write_text(text + '[servers.ours]\nuse = "gunicorn"\napp = "mine:app"\n')
    call = bench("run", path, code=4)
    assert "building" not in call.err
    folder, header = call.result, read_header(call.result)
    assert header.runtimes.keys() == {"py312", "benchforge"}
    assert header.runtimes["py312"].packages == header.runtimes["benchforge"].packages
    assert header.runtimes["py312"].lock_sha256 is None
    assert header.versions["gunicorn"] == header.versions["gunicorn (py312)"]
    assert not (folder / "runtimes").exists()


@pytest.mark.network
@pytest.mark.parametrize(
    ("runtimes", "code", "says"),
    [
        ('python = "3.1.4"', 3, "runtime py312: no interpreter '3.1.4' on this machine"),
        ('python = "3.1.4"', 3, "there are: CPython 3."),
        ('python = "./none"', 3, "/none: no such program"),
        ('python = "/bin/ls"', 3, "/bin/ls does not answer as Python does"),
        (f'python = "{sys.executable}"\nrequires = ["{NOWHERE}"]', 2, "small.toml:5:13: "),
        (f'python = "{sys.executable}"\nrequires = ["packaging", "{NOWHERE}"]', 2, ":5:26: "),
        (f'python = "{sys.executable}"\nrequires = ["{NOWHERE}"]', 2, "was not found"),
        (f'python = "{sys.executable}"\nrequires = ["packaging=="]', 2, "expected version"),
        (f'python = "{sys.executable}"\nrequires = ["six<1", "six>1"]', 2, ":5:1: "),
        (f'python = "{sys.executable}"\nrequires = ["-r a.txt"]', 2, "/a.txt: No such file"),
        (f'python = "{sys.executable}"\nrequires = ["./app"]', 2, "uv.lock, instead name the Pyth"),
        (f'python = "{sys.executable}"\nrequires = ["six"]', 3, "py312 lacks: gunicorn"),
        (f'python = "{sys.executable}"\nrequires = ["six"]', 3, 'py312.requires: "gunicorn"'),
    ],
)
def test_runtime_errors(bench: Bench, tmp_path: Path, runtimes: str, code: int, says: str) -> None:
    needed("uv")
    path = written(tmp_path, f"# the runtime\n[runtimes.py312]\n{runtimes}\n")
    call = bench("run", path, code=code)
    assert says in call.err, call.err
    assert not (tmp_path / "results").exists()


# --- building and the cache ----------------------------------------------------------------------


@pytest.mark.network
def test_a_file_of_requirements_is_taken_as_pip_takes_it(tmp_path: Path, kept: Path) -> None:
    """With the file that it includes, whose change makes another environment."""
    needed("uv")
    (tmp_path / "requirements.txt").write_text("# of the app\n-r more.txt\n")
    (tmp_path / "more.txt").write_text("gunicorn==22.0.0  # the server\n")
    suite = loaded(written(tmp_path, _here(["-r requirements.txt"])))
    says: list[str] = []
    assert made(suite, says)["py312"].facts.packages["gunicorn"] == "22.0.0"
    (tmp_path / "more.txt").write_text("gunicorn==23.0.0\n")
    assert made(suite, says)["py312"].facts.packages["gunicorn"] == "23.0.0"
    assert len(says) == 2, says


@pytest.mark.network
def test_it_is_built_once_and_then_only_asked(tmp_path: Path, kept: Path) -> None:
    needed("uv")
    suite = loaded(written(tmp_path, _here(["gunicorn==22.0.0"])))
    says: list[str] = []
    first = made(suite, says)["py312"]
    assert "runtime py312: building (CPython " in says[0]
    assert "1 requirement)" in says[0]
    assert first.facts.packages == from_inside(first.python)
    assert first.facts.packages["gunicorn"] == "22.0.0"
    assert first.brings == {"gunicorn": "22.0.0"}
    log = (first.python.parents[2] / "install.err").read_text()
    assert "+ gunicorn==22.0.0" in log
    assert (made(suite, says)["py312"], len(says)) == (first, 1)
    # The same is built for another label; other requirements make another environment.
    renamed = loaded(written(tmp_path, _here(["gunicorn==22.0.0"], "other"), "other"))
    assert made(renamed, says)["other"].python == first.python
    more = loaded(written(tmp_path, _here(["gunicorn==22.0.0", "six"])))
    assert made(more, says)["py312"].python != first.python
    assert len(says) == 2
    # What somebody removed is built anew.
    shutil.rmtree(first.python.parents[2])
    assert made(suite, says)["py312"].facts.packages == first.facts.packages
    assert len(says) == 3
    assert not list(kept.glob("*.failed"))


@pytest.mark.network
def test_two_builders_at_once_do_each_other_no_harm(tmp_path: Path, kept: Path) -> None:
    needed("uv")
    path = written(tmp_path, _here(["gunicorn==21.2.0"]))
    program = """
import sys
sys.path[:0] = sys.argv[1:3]
from test_runtimes import loaded, made
from pathlib import Path
print(made(loaded(Path(sys.argv[3])), [])["py312"].facts.packages["gunicorn"])
"""
    folder, pipe = Path(__file__).parent, subprocess.PIPE
    words = [
        sys.executable,
        "-c",
        program,
        *map(str, (folder, folder.parents[1] / "support", path)),
    ]
    pair = [subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) for _ in "ab"]
    output = [item.communicate(timeout=300) for item in pair]
    assert [out for out, _ in output] == ["21.2.0\n"] * 2, output
    links = [item for item in kept.iterdir() if item.is_symlink()]
    folders = [item for item in kept.iterdir() if item.is_dir() and not item.is_symlink()]
    assert len(folders) == len(links)  # nothing half-made, and nothing made twice, is left


@pytest.mark.network
def test_no_cache_a_private_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("uv")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    suite = loaded(written(tmp_path, _here(["gunicorn==22.0.0"])))
    says: list[str] = []
    first = made(suite, says)["py312"]
    assert made(suite, says)["py312"] == first
    assert len(says) == 1
    assert first.python.is_relative_to(cache("runtimes"))


def test_without_uv_there_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = loaded(written(tmp_path, _here(["gunicorn==20.1.0"])))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(locate, "everywhere", lambda _: iter(()))
    with pytest.raises(ProgramMissing, match="needs uv") as caught:
        made(suite, [])
    assert "pip install uv" in caught.value.hint


def test_the_words_of_uv_kept(tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("uv")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    with pytest.raises(ProgramMissing, match=r"uv cannot build it: .*127\.0\.0\.1:9") as caught:
        made(loaded(written(tmp_path, _here(["six"]))), [])
    (log,) = kept.glob("*.failed")
    assert caught.value.hint == f"the full output is in {log}"
    assert "Connection refused" in (log / "lock.err").read_text()
    shutil.rmtree(log)


def _here(requires: list[str], label: str = "py312") -> str:
    return f'[runtimes.{label}]\npython = "{sys.executable}"\nrequires = {json.dumps(requires)}\n'


# --- finding -------------------------------------------------------------------------------------


def script(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture
def search(tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """Give what finds an interpreter."""
    with HOST.trial(tmp_path / "trial", "host") as sandbox:
        yield lambda python: find(sandbox, python, "x", tmp_path, tmp_path / "trial")


def test_an_interpreter_states_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, search: Callable[[str], Any]
) -> None:
    script(tmp_path / "bin/python3.4", f'exec {sys.executable} "$@"')
    script(tmp_path / "bin/python3", "exit 127")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(ProgramMissing, match=r"no interpreter '3\.4'"):
        search("3.4")
    by_name = search("python3.4")  # whatever it is
    assert (by_name.version[:2], by_name.path) == (sys.version_info[:2], Path(sys.executable))
    by_path = search("./bin/python3.4")
    assert (by_path.path, by_path.version) == (tmp_path / "bin/python3.4", by_name.version)
    with pytest.raises(ProgramMissing, match=r"no interpreter '3\.4'"):
        search("3.4")
    # The shim that cannot run is passed over; an environment is no plain interpreter.
    plain = search("3")
    assert (plain.implementation, plain.environment) == ("CPython", False)


def test_the_highest_version_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, search: Callable[[str], Any]
) -> None:
    answers = {"a": "[3, 99, 1], false", "b": "[3, 99, 2], false", "c": "[3, 99, 3], true"}
    for name, answer in answers.items():
        says = f'["/{name}/python3", "cpython", {answer}]'
        script(tmp_path / f"versions/{name}/bin/python3", f"echo '{says}'")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    highest, exact = search("3.99"), search("3.99.1")
    assert (highest.path, str(highest)) == (Path("/b/python3"), "CPython 3.99.2")
    assert exact.path == Path("/a/python3")
    # That of an environment has packages of its own.
    with pytest.raises(ProgramMissing, match=r"no interpreter '3\.99\.3'"):
        search("3.99.3")


def test_a_fetch_needs_a_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed("uv")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    runtime = '[runtimes.py312]\npython = "3.12"\n'
    says: list[str] = []
    with pytest.raises(ProgramMissing, match=r"no interpreter '3\.12'"):
        made(loaded(written(tmp_path, runtime)), says)
    assert says == []
    with pytest.raises(ProgramMissing, match=r"uv cannot fetch 3\.12: .*127\.0\.0\.1:9"):
        made(loaded(written(tmp_path, runtime + "download = true\n")), says)
    assert says == ["runtime py312: fetching 3.12"]


def test_a_secret_in_a_requirement_is_not_told(tmp_path: Path) -> None:
    needed("uv")
    requires = ["six @ http://me:opensesame@127.0.0.1:9/six-1-py3-none-any.whl"]
    suite = loaded(written(tmp_path, _here(requires)))
    assert "opensesame" in suite.secrets
    with pytest.raises(ProgramMissing, match="uv cannot build it") as caught:
        made(suite, [])
    assert "opensesame" not in caught.value.text()


def test_pypy_by_name_and_version(
    interpreter: Callable[[str], str], search: Callable[[str], Any]
) -> None:
    interpreter("pypy3")
    any_pypy = search("pypy3")
    named = "pypy" + ".".join(map(str, any_pypy.version[:2]))
    assert search(named).version == any_pypy.version
    with pytest.raises(ProgramMissing, match=r"no interpreter 'pypy3\.1'"):
        search("pypy3.1")
    assert any_pypy.implementation == "PyPy"


def test_our_own_interpreter_tells_what_its_metadata_says() -> None:
    us = own(["gunicorn", "json", "no_such_module"])
    assert us.facts.packages == from_inside(us.python)
    assert us.brings == {"gunicorn": us.facts.packages["gunicorn"]}
    assert us.facts.executable == sys.executable


def test_other_metadata_names_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folded = (
        "Metadata-Version: 2.1\nSummary: a\n Name: b\nName: Some.Thing\nVersion: 1\n\nVersion: 2\n"
    )
    files = {
        "some_thing-1.dist-info/METADATA": folded,
        "egg.egg-info/PKG-INFO": "Name: egg\nVersion: 3\n",
        "older.egg-info": "Name: older\nVersion: 4\n",
        "left.dist-info/RECORD": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert own([]).facts.packages == {"egg": "3", "older": "4", "Some.Thing": "1"}


# --- the suite -----------------------------------------------------------------------------------


def test_a_case_is_told_by_what_the_runtime_is_not_by_its_label(tmp_path: Path) -> None:
    def digest(runtimes: str, runtime: str) -> str:
        (case,) = expand(loaded(written(tmp_path, runtimes, runtime)))
        return case.name.digest

    first = digest(PY312, "py312")
    assert digest(PY312.replace("py312", "other"), "other") == first
    assert digest(PY312 + "download = true\n", "py312") == first
    assert digest(PY312.replace('"3.12"', '"3.11"'), "py312") != first
    assert digest(PY312.replace("23.0.0", "22.0.0"), "py312") != first


def test_profiles_and_settings_reach_runtimes(tmp_path: Path) -> None:
    path = written(tmp_path, PY312 + '[profiles.old.runtimes.py312]\npython = "3.9"\n')
    assert load(path, Registry(), profile="old").runtimes["py312"].python == "3.9"
    setting = ("runtimes.py312.requires", '["six"]')
    assert load(path, Registry(), settings=[setting]).runtimes["py312"].requires == ("six",)
    with pytest.raises(Unusable, match=r"runtimes\.py is not declared"):
        load(path, Registry(), settings=[("runtimes.py.python", "3")])
