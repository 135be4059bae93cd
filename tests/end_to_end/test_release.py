# ruff: noqa: T201 - make release shows what these tests print
"""The release: the same bytes each time, and all ways of the install page where nothing else is.

`make release` runs these tests with -s: they print sizes and seconds.
"""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from bare_debian import BareDebian, bare_debian
from front_door import captured
from installed import ROOT

import benchforge.results
from benchforge.model.values.distribution import own_version

pytestmark = [pytest.mark.network, pytest.mark.exhaustive]

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
SERVER = (ROOT / "tests/results/stored/app.py").read_text()
DUEL = (
    "benchforge duel --without-lock --connections 4 --time 30s "
    "'python3 app.py {port}' 'python3 app.py {port} again'"
)
WAYS = {
    "uvx": "python3 -m venv uv && uv/bin/pip -q install uv && uv/bin/uvx -q --from ./*.whl ",
    "pipx": "python3 -m venv pipx && pipx/bin/pip -q install pipx"
    " && pipx/bin/pipx install -q ./*.whl && .local/bin/",
    "pip": "python3 -m venv pip && pip/bin/pip -q install ./*.whl && pip/bin/",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the release of the last commit, twice."""
    folder = tmp_path_factory.mktemp("dist")
    built = captured(["sh", ROOT / "scripts/release.sh", folder])
    assert built.returncode == 0, built.stderr
    print(f"\n{built.stdout}", end="")
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def debian(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> BareDebian:
    """Make a Debian with Python alone, and the wheel in a home."""
    bare = bare_debian(wheel, tmp_path_factory.mktemp("home"))
    (bare.home / "app.py").write_text(SERVER)
    return bare


def answered(ended: subprocess.CompletedProcess[str], folder: Path) -> None:
    """Check that a duel measured both servers, whatever came of it on a loud machine."""
    assert "Traceback" not in ended.stdout + ended.stderr
    summaries = [*folder.glob("results/*/summary.json")]
    assert len(summaries) == 1, ended.stdout + ended.stderr
    result = benchforge.results.open(summaries[0])
    assert len({row.server for row in result.trials if row.value is not None}) == 2
    assert result.summary.benchforge == own_version()
    subprocess.run(["rm", "-rf", folder / "results"], check=True)


def test_the_same_commit_gives_the_same_bytes_elsewhere(wheel: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)}
    words = ["sh", "-c", f"umask 077; exec sh '{ROOT}/scripts/release.sh' dist"]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    for file in wheel.parent.iterdir():
        assert (tmp_path / "dist" / file.name).read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize("way", WAYS)
def test_each_way_leads_from_nothing_to_an_answer(debian: BareDebian, way: str) -> None:
    if debian.bare:
        ended = debian.run("! command -v gcc git make; id -u")
        assert ended.stdout == "1000\n", "neither compiler nor git nor root"
    script = f"{WAYS[way]}{DUEL} || true"
    ended = debian.run(f"begin=$(date +%s); {script}; echo $(($(date +%s) - begin))")
    answered(ended, debian.home)
    seconds = ended.stdout.splitlines()[-1]
    print(f"\n{way}: {seconds} s from nothing to the answer of a duel of 30 s at most")


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_needs_no_compiler(debian: BareDebian, extra: str) -> None:
    install = f"uv/bin/uv pip install -q --no-build --python extra-{extra}"
    ended = debian.run(
        "[ -x uv/bin/uv ] || { python3 -m venv uv; uv/bin/pip -q install uv; }; "
        f'python3 -m venv --without-pip extra-{extra}; {install} "$(echo ./*.whl)[{extra}]"; '
        f"extra-{extra}/bin/benchforge --version; rm -rf extra-{extra}"
    )
    assert ended.stdout == f"benchforge {own_version()}\n", ended.stdout + ended.stderr


def pythons() -> dict[str, str]:
    """Return an interpreter of each version of Python from 3.11 on that this machine has."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    candidates = [f"python3.{minor}" for minor in range(11, 20)]
    candidates += map(str, pyenv.glob("versions/3.*/bin/python3"))
    tells = "import sys; print(*sys.version_info[:2], sys.executable)"
    interpreters = {}
    for candidate in filter(shutil.which, candidates):
        answer = captured([candidate, "-c", tells])  # a shim may lead to none
        if answer.returncode == 0:
            major, minor, program = answer.stdout.split()
            interpreters[f"{major}.{minor}"] = program
    return {name: program for name, program in interpreters.items() if int(name[2:]) >= 11}


def test_it_runs_on_each_python_of_this_machine(wheel: Path, tmp_path: Path) -> None:
    interpreters = pythons()
    assert interpreters
    (tmp_path / "app.py").write_text(SERVER)
    for version, python in interpreters.items():
        environment = tmp_path / version
        captured([python, "-m", "venv", environment], check=True)
        captured([environment / "bin/pip", "install", "-q", wheel], check=True)
        path = f"{environment / 'bin'}:{os.environ['PATH']}"
        ended = captured(
            ["sh", "-c", DUEL.replace("30s", "10s")],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
        )
        answered(ended, tmp_path)
        print(f"\nPython {version}: a duel has an answer")


def test_it_is_installed_from_git(tmp_path: Path) -> None:
    captured(["python3", "-m", "venv", tmp_path / "git"], check=True)
    url = f"git+file://{ROOT}"
    ended = captured([tmp_path / "git/bin/pip", "install", "-q", url])
    assert ended.returncode == 0, ended.stderr
    printed = captured([tmp_path / "git/bin/benchforge", "--version"], check=True).stdout
    assert printed == f"benchforge {own_version()}\n"
