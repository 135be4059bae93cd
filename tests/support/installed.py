"""benchforge as people have it: built, installed into a fresh environment, called in a folder."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from front_door import Bench, calls, captured, needed

from benchforge.run.locate import locate

ROOT = Path(__file__).parents[2]
WITHIN_S = 300


@dataclass(frozen=True)
class Installed:
    """An environment of its own, without anything of the one that the tests run in."""

    environment: Path

    @property
    def python(self) -> Path:
        return self.environment / "bin/python"

    @property
    def surroundings(self) -> dict[str, str]:
        mine = {"PATH": f"{self.environment / 'bin'}:{os.defpath}", "HOME": str(self.environment)}
        # What a run keeps for later ones is the environment's own, too; how loud the machine is
        # allowed to be is not.
        mine |= {name: os.environ[name] for name in ("XDG_STATE_HOME",) if name in os.environ}
        # So are the programs that the set-up of this clone unpacked.
        mine |= {"BENCHFORGE_PROGRAMS": str(ROOT / ".tools/system")}
        return mine | {"LC_ALL": "C.UTF-8", "COLUMNS": "100"}

    def bench(self, folder: Path) -> Bench:
        return calls([str(self.environment / "bin/benchforge")], folder, self.surroundings)

    def run(self, *words: str | Path, folder: Path) -> str:
        """Return what a program of the environment prints; it ends well."""
        return printed(*words, folder=folder, environment=self.surroundings)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this tree, once for all tests."""
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


def built(source: Path, out: Path) -> Path:
    """Build a wheel of a folder, and nothing else."""
    build(source, out, "--wheel")
    (wheel,) = out.glob("*.whl")
    return wheel


def build(source: Path, out: Path, *words: str) -> None:
    """Build a wheel, a source distribution, or one from the other."""
    uv("build", "--quiet", "--no-create-gitignore", "--out-dir", out, *words, source)


def installed(environment: Path, *packages: str | Path) -> Installed:
    """Make an environment and install packages into it."""
    uv("venv", "--quiet", "--python", sys.executable, environment)
    python = environment / "bin/python"
    uv("pip", "install", "--quiet", "--python", python, *packages)
    return Installed(environment)


def uv(*words: str | Path) -> None:
    needed("uv")
    # The settings of this folder are for its own environment.
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment |= {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_CONFIG": "1"}
    printed(str(locate("uv")), *words, folder=Path("/"), environment=environment)


def printed(*words: str | Path, folder: Path, environment: dict[str, str]) -> str:
    done = captured(words, cwd=folder, env=environment, timeout=WITHIN_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
