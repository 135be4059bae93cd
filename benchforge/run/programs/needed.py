"""Needs of a suite, listed without starting anything."""

import errno
import importlib.metadata
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchforge.errors import BenchforgeError
from benchforge.model.suite.code import OWN, Runtime
from benchforge.parts.command import Command, Need
from benchforge.parts.part import Part, RunsPython, ServesCode, Service
from benchforge.parts.site import Site
from benchforge.run.locate import locate
from benchforge.run.programs.interpreters import candidates, wish
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import parts_by_scenario
from benchforge.suite.secrets import SHORTEST
from benchforge.suite.suite import Suite

if TYPE_CHECKING:  # `check` starts nothing
    from benchforge.run.sandbox.sandbox import Sandbox

UV = Need("uv", "pip install uv, or install it otherwise, so that it is on PATH")

Users = dict[str, dict[str, None]]
"The parts that need something, each with its scenarios."

_VERSION_WITHIN_S = 10.0

PAGE = "docs/how-to/packages-of-your-app.md"
_CLOSED = (
    "a trial changes no files but its own: write below the folder that TMPDIR names, or name the "
    'folder at the top of the suite, such as writes = ["../data"]'
)
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


@dataclass
class Needed:
    """What the cases of a suite need."""

    cases: int = 0
    parts: dict[tuple[str, str, str], Part] = field(default_factory=dict)
    "One of each kind, name and runtime."
    needs: dict[Need, Users] = field(default_factory=dict)
    "Programs and the users of each, and modules of our own interpreter."
    modules: dict[str, dict[str, None]] = field(default_factory=dict)
    "Modules of other interpreters, by the label of the runtime."
    runtimes: dict[str, list[Path]] = field(default_factory=dict)
    "The files that may be the interpreter, by the label of the runtime."
    refs: dict[str, dict[str, None]] = field(default_factory=dict)
    "Commits that servers name to serve, by the place in the suite."
    outside: dict[str, None] = field(default_factory=dict)
    "Services that run already, outside of a trial."

    def add(self, part: Part, key: str, scenario: str) -> None:
        """Count a part in. Raises what the part's own `needs` raises."""
        runtime = part.runtime if isinstance(part, RunsPython) else None
        self.parts.setdefault((part.kind, part.name, runtime or OWN), part)
        if runtime is not None:
            self.modules.setdefault(runtime, {})
        if isinstance(part, Service) and part.outside():
            self.outside[key] = None
        if isinstance(part, ServesCode) and part.ref is not None:
            self.refs.setdefault(key, {})[part.ref] = None
        for need in part.needs():
            if need.kind == "module" and runtime is not None:
                self.modules[runtime][need.name] = None
            else:
                self.needs.setdefault(need, {}).setdefault(key, {})[scenario] = None


def needed(suite: Suite) -> Needed:
    """Return what a suite's cases need. Raises BenchforgeError without a part's code or data."""
    form = Needed(len(expand(suite)))
    for scenario, key, part in parts_by_scenario(suite):
        part.fingerprint(suite.path.parent)  # it reads the code or the data that are served
        form.add(part, key, scenario)
    for label in form.modules:
        runtime = suite.runtimes[label]
        form.runtimes[label] = _files(runtime.python, suite.path.parent)
        if not form.runtimes[label] and not runtime.download:
            form.needs.setdefault(_interpreter(runtime.python), {})[f"runtimes.{label}"] = {}
        if runtime.requires or not form.runtimes[label]:
            form.needs.setdefault(UV, {})[f"runtimes.{label}"] = {}
    return form


def together(forms: Iterable[Needed]) -> dict[Need, Users]:
    """Return what the forms of a suite need, each with all of its users."""
    users_of: dict[Need, Users] = {}
    for form in forms:
        for need, users in form.needs.items():
            for key, scenarios in users.items():
                users_of.setdefault(need, {}).setdefault(key, {}).update(scenarios)
    return users_of


def _files(python: str, suite_folder: Path) -> list[Path]:
    if "/" in python:
        file = locate(str(Path(python).expanduser()), suite_folder)
        return [file] if file else []
    return candidates(wish(python))


def _interpreter(python: str) -> Need:
    name = f"Python {python}" if python[:1].isdigit() else python
    install = "install it, give its path, or allow the download: download = true"
    return Need(name, install, debian="pypy3" if python in {"pypy", "pypy3"} else "")


def how(need: Need) -> str:
    """Return how to get what is missing, on this system."""
    if need.install or shutil.which("apt-get"):
        return need.how
    return f"with this system's package manager (Debian's package is {need.debian})"


def fetchable(needs: Iterable[Need]) -> list[str]:
    """Return the Debian packages of what is missing, where this system can fetch them."""
    packages = sorted({need.debian for need in needs if need.debian})
    return packages if shutil.which("apt-get") else []


def as_they_say(
    commands: Mapping[str, Command], sandbox: "Sandbox", folder: Path
) -> dict[str, str]:
    """Return the first line that each command prints, or why there is none."""
    answers: dict[str, str] = {}
    for label, command in commands.items():
        try:
            done = sandbox.run(label, command, folder, {}, _VERSION_WITHIN_S)
            text = done.printed + done.complained
        except BenchforgeError as error:
            answers[label] = f"unknown: {error}"
            continue
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        answers[label] = lines[0] if lines else "unknown: it printed nothing"
    return answers


def no_site(folder: Path, python: Path, programs: Mapping[str, Path], suite_folder: Path) -> Site:
    """Return a site that is enough for a part to name the command for its version."""
    return Site(
        label="version",
        folder=folder,
        scratch=folder,
        address="127.0.0.1",
        ports={},
        python=python,
        programs=programs,
        backends={},
        suite_folder=suite_folder,
        as_root=os.geteuid() == 0,
    )


def left_out(text: str, part: Part) -> str:
    """Return a variable of the caller that a text names and the part does not receive; else ""."""
    environment_ = getattr(part, "environment", os.environ)  # a part without it takes no variable
    received = {"PATH", "HOME", "LANG", "TMPDIR", *environment_}
    return next((n for n in _VARIABLE.findall(text) if n in os.environ and n not in received), "")


def in_log(text: str, part: Part, label: str) -> str:
    """Return what to do where a log names a missing module, variable or file; else ""."""
    match = _NO_MODULE.search(text)  # first: a log has other complaints beside the cause
    if match is None:
        if os.strerror(errno.EROFS) in text:
            return _CLOSED
        if not (name := left_out(text, part)):
            return ""
        value = f'{{ env = "{name}" }}' if len(os.environ[name]) >= SHORTEST else '"..."'
        where = f"environment = {{ {name} = {value} }} in servers.{label}"
        return f"the server does not receive your {name}: say {where}"
    module = match[1]
    if not isinstance(part, RunsPython) or not part.starts_python():
        return (
            f"install {module} for the Python that the command names, or name one that has it: "
            f'command = [".venv/bin/python", ...]; if {module} is your own, name its folder: '
            f'directory = "../app"; see {PAGE}'
        )
    if part.runtime is not None:
        return (
            f"install {module} where runtimes.{part.runtime}.python is from, or add it to "
            f"runtimes.{part.runtime}.requires; see {PAGE}"
        )
    return (
        f"servers.{label} runs on benchforge's own Python, which has no {module}: name the one "
        'that has your packages, [runtimes.mine] with python = "/path/to/.venv/bin/python", and '
        f'say runtime = "mine" in servers.{label}; see {PAGE}'
    )


def of_runtime(label: str, runtime: Runtime, python: Path, modules: Sequence[str]) -> str:
    """Return how the modules that a runtime's interpreter lacks get into its environment."""
    # Where we have the module ourselves, we know what to install for it.
    brought = importlib.metadata.packages_distributions()
    tops = (module.partition(".")[0] for module in modules)
    packages = list(dict.fromkeys(brought.get(top, [top])[0] for top in tops))
    if "/" in runtime.python and not runtime.requires:
        with_pip = [str(python), "-m", "pip", "install", *packages]
        with_uv = ["uv", "pip", "install", "--python", str(python), *packages]
        has_pip = python.with_name("pip").exists()
        return f"install it there: {shlex.join(with_pip if has_pip else with_uv)}"
    quoted = ", ".join(f'"{package}"' for package in packages)
    return f"add to runtimes.{label}.requires: {quoted}"
