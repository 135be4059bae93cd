"""Runtimes that are ready: each asked from inside what it is, and what it lacks."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchforge.errors import BenchforgeError, CannotKeep, ProgramMissing, TrialFailed
from benchforge.model.suite.code import FILE_OPTION, OWN, Interpreter, Runtime
from benchforge.parts.command import Command
from benchforge.parts.part import Part, RunsPython
from benchforge.run.disk.hide import hide_below
from benchforge.run.disk.leftovers import cache, private
from benchforge.run.disk.scratch import claimed, scratch_folder, use
from benchforge.run.disk.space import enough
from benchforge.run.locate import libraries, locate
from benchforge.run.programs import interpreter_probe
from benchforge.run.programs.interpreters import InterpreterCandidate, find
from benchforge.run.programs.needed import UV, of_runtime
from benchforge.run.sandbox.host import Host
from benchforge.run.sandbox.sandbox import Sandbox, complaint
from benchforge.suite.secrets import redact
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import SuiteErrors
from benchforge.suite.toml.source import located
from benchforge.text import door
from benchforge.text.readable import counted

_BUILT_WITHIN_S = 1800.0  # a package without a wheel is compiled, and compilers are slow
_INCLUDED = re.compile(r"^\s*(?:-r|--requirement|-c|--constraint)[= ](.+)$", re.MULTILINE)
_FREE_CACHE = "free some, or set XDG_CACHE_HOME to another folder"
_TELLING = 3  # lines of uv's that are shown
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PASSED = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE")
_FOLDERS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")

_TOLD_WITHIN_S = 60.0


@dataclass(frozen=True)
class Ready:
    """An interpreter that parts run on."""

    python: Path
    facts: Interpreter
    brings: Mapping[str, str]
    "The distributions that hold the modules that parts need, with their versions."
    lock: str = ""
    "The pinned packages that it was built from."


def needed_modules(parts: Iterable[Part]) -> dict[str, list[str]]:
    """Return the modules that parts need, each once, by the label of the runtime; ours is OWN."""
    needed: dict[str, dict[str, None]] = {}
    for part in parts:
        label = (part.runtime if isinstance(part, RunsPython) else None) or OWN
        modules = [need.name for need in part.needs() if need.kind == "module"]
        if modules or isinstance(part, RunsPython):
            needed.setdefault(label, {}).update(dict.fromkeys(modules))
    return {label: list(modules) for label, modules in needed.items()}


def ready(
    suite: Suite, parts: Iterable[Part], host: Host, tell: Callable[[str], None]
) -> dict[str, Ready]:
    """Return every runtime that a part names, found and built where it was not.

    `tell` hears what takes time. Raises ProgramMissing for an interpreter that is not there, cannot
    be built or lacks a module, SuiteErrors for impossible requirements.
    """
    needed = needed_modules(parts)
    needed.pop(OWN, None)
    if not needed:
        return {}
    made: dict[str, Ready] = {}
    lacks: dict[str, list[str]] = {}
    with scratch_folder() as scratch, host.trial(scratch, "host") as sandbox:
        for label, modules in needed.items():
            folder = scratch / label
            folder.mkdir()
            interpreter = _find_interpreter(sandbox, suite, label, folder, tell)
            python, lock, hint = interpreter.path, "", ""
            if suite.runtimes[label].requires:
                python, lock = _Environment(sandbox, suite, label, interpreter).built(tell)
                hint = f"if it is damaged, remove {python.parents[2]}: it is built anew"
            answer = ask_interpreter(sandbox, label, python, modules, folder, hint)
            lacks[label] = answer["lacks"]
            made[label] = _ready(python, answer | {"requested": suite.runtimes[label].python}, lock)
    if missing := {label: modules for label, modules in lacks.items() if modules}:
        says = [f"runtime {key} lacks: {', '.join(modules)}" for key, modules in missing.items()]
        hints = [
            of_runtime(label, suite.runtimes[label], made[label].python, modules)
            for label, modules in missing.items()
        ]
        raise ProgramMissing("; ".join(says), "; ".join(hints))
    return made


def own(modules: Iterable[str]) -> Ready:
    """Return what our own interpreter is."""
    return _ready(Path(sys.executable), interpreter_probe.describe_interpreter(modules), "")


def _ready(python: Path, answer: Mapping[str, Any], lock: str) -> Ready:
    facts = {name: answer[name] for name in Interpreter.model_fields if name in answer}
    return Ready(python, Interpreter.model_validate(facts), answer["brings"], lock)


def _find_interpreter(
    sandbox: Sandbox, suite: Suite, label: str, folder: Path, tell: Callable[[str], None]
) -> InterpreterCandidate:
    runtime: Runtime = suite.runtimes[label]
    try:
        return find(sandbox, runtime.python, label, suite.path.parent, folder)
    except ProgramMissing:
        if not runtime.download or "/" in runtime.python:
            raise
    tell(f"runtime {label}: fetching {runtime.python}")
    words = (_uv(label), "python", "install", "--no-progress", "--no-bin", runtime.python)
    surroundings = _surroundings() | {"UV_PYTHON_DOWNLOADS": "manual"}
    done = sandbox.run("fetch", Command(*words), folder, surroundings, _BUILT_WITHIN_S)
    if done.code:
        says = f"runtime {label}: uv cannot fetch {runtime.python}: {_telling(done.complained)}"
        raise ProgramMissing(says, "install it, or give its path")
    return find(sandbox, runtime.python, label, suite.path.parent, folder)


def ask_interpreter(
    sandbox: Sandbox, label: str, python: Path, modules: Iterable[str], folder: Path, hint: str = ""
) -> dict[str, Any]:
    """Ask an interpreter what it is. Raises ProgramMissing when it cannot tell."""
    command = Command(python, interpreter_probe.__file__, *modules)
    try:
        finished = sandbox.run("inside", command, folder, {}, _TOLD_WITHIN_S)
    except (ProgramMissing, TrialFailed) as error:
        raise ProgramMissing(f"runtime {label}: {error.message}", hint) from error
    if finished.code:
        reason = "".join(f": {line}" for line in complaint(finished).splitlines()[-1:])
        raise ProgramMissing(f"runtime {label}: {python} does not report what it is{reason}", hint)
    # A package of a dotted name may print something as it is imported.
    answer: dict[str, Any] = json.loads(finished.printed.splitlines()[-1])
    return answer


class _Environment:
    """The environment of a runtime: built once, and kept in the cache.

    Raises SuiteErrors for impossible requirements, ProgramMissing when it cannot be built for
    another reason, CannotKeep when it cannot be written.
    """

    def __init__(
        self, sandbox: Sandbox, suite: Suite, label: str, interpreter: InterpreterCandidate
    ) -> None:
        self._sandbox, self._suite, self._label = sandbox, suite, label
        self._interpreter, self._runtime = interpreter, suite.runtimes[label]
        folder = suite.path.parent.absolute()
        self._requirements = [
            f"{FILE_OPTION}{folder / requirement.removeprefix(FILE_OPTION).strip()}"
            if requirement.startswith(FILE_OPTION)
            else requirement
            for requirement in self._runtime.requires
        ]
        contents = self._contents()
        self._entry = cache("runtimes") / self._key(contents)
        self._log = self._entry.with_name(f"{self._entry.name}.failed")

    def built(self, tell: Callable[[str], None]) -> tuple[Path, str]:
        """Return its interpreter, and the packages that it was built from."""
        runtime, entry = f"runtime {self._label}", self._entry
        try:
            if not entry.is_dir():
                requirements = counted(len(self._runtime.requires), "requirement")
                built = f"{self._interpreter}, {requirements}"
                tell(f"{runtime}: building ({built}); this is done once")
                enough(entry.parent, _FREE_CACHE)
                self._build()
            private_path = private(entry.resolve())
            use(private_path)
            return private_path / "env/bin/python", (private_path / "lock.txt").read_text()
        except OSError as error:
            raise CannotKeep(f"{runtime}: {error}", f"see {entry.parent} and its disk") from error

    def _contents(self) -> dict[str, str]:
        """Return the text of each file of requirements, and of included ones."""
        contents: dict[str, str] = {}
        for number, requirement in enumerate(self._requirements):
            is_file = requirement.startswith(FILE_OPTION)
            files = [Path(requirement.removeprefix(FILE_OPTION))] * is_file
            for file in files:
                if str(file) in contents:
                    continue
                try:
                    contents[str(file)] = file.read_text()
                except (OSError, UnicodeDecodeError) as error:
                    message = f"{file}: {getattr(error, 'strerror', None) or 'is not a text'}"
                    hint = "correct its path, which begins at the suite's folder"
                    raise self._wrong(message, hint, number) from None
                included = _INCLUDED.findall(contents[str(file)])
                files += [file.parent / name.strip() for name in included]
        return contents

    def _wrong(self, message: str, hint: str, *numbers: int) -> SuiteErrors:
        path: tuple[str | int, ...] = ("runtimes", self._label, "requires", *numbers)
        return SuiteErrors([located(self._suite.document, path, message, hint)])

    def _key(self, files: Mapping[str, str]) -> str:
        """Return a digest of what it depends on: another key, another environment."""
        file = self._interpreter.path.resolve()
        stat = file.stat()
        identity = [str(file), stat.st_size, stat.st_mtime_ns, str(self._interpreter)]
        # They say where packages come from, and which.
        settings = {name: value for name, value in os.environ.items() if name.startswith("UV_")}
        inputs = [identity, self._runtime.requires, sorted(settings.items()), *files.items()]
        return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32]

    def _build(self) -> None:
        """Make it under a name of its own, and link to it: it holds its own path."""
        entry, secrets = self._entry, self._suite.secrets
        with claimed(entry.parent, f"{entry.name}.") as target:
            try:
                self._make(target)
                hide_below(target, secrets)
                if entry.is_symlink() and not entry.is_dir():  # somebody removed what it leads to
                    entry.unlink(missing_ok=True)
                with contextlib.suppress(FileExistsError):  # somebody else built the same meanwhile
                    entry.symlink_to(target.name)
            except BenchforgeError:
                try:
                    enough(target, _FREE_CACHE)  # uv does not always say that its disk is full
                finally:  # keep what uv printed, of the newest attempt that failed
                    shutil.rmtree(target / "env", ignore_errors=True)
                    hide_below(target, secrets)
                    shutil.rmtree(self._log, ignore_errors=True)
                    target.rename(self._log)
                raise
            finally:
                if entry.resolve() != target.resolve():
                    shutil.rmtree(target, ignore_errors=True)

    def _make(self, target: Path) -> None:
        uv, python, secrets = _uv(self._label), self._interpreter.path, self._suite.secrets
        wanted = "".join(f"{requirement}\n" for requirement in self._requirements).encode()
        door.write(target, "requirements.in", wanted, lasting=False, mode=door.OWN)
        pinned = ("-o", "lock.txt", "--generate-hashes", "--no-header", "--no-annotate")
        in_env = ("--python", "env/bin/python")
        steps = {
            "lock": ("pip", "compile", "requirements.in", "--python", python, *pinned),
            "env": ("venv", "--no-project", "--python", python, "env"),
            # Compiled once, or each trial would pay for it where it cannot be written.
            "install": ("pip", "sync", "lock.txt", *in_env, "--compile-bytecode"),
        }
        surroundings = _surroundings() | libraries(python)
        for step, words in steps.items():
            command = Command(uv, *words, "--no-progress")
            done = self._sandbox.run(step, command, target, surroundings, _BUILT_WITHIN_S)
            if done.code:
                complained = done.complained
                if step == "lock" and re.search("No solution found|parse requirement", complained):
                    raise self._unsolvable(complained)
                message = f"runtime {self._label}: uv cannot build it: {_telling(complained)}"
                raise ProgramMissing(redact(message, secrets), f"the full output is in {self._log}")

    def _unsolvable(self, complained: str) -> SuiteErrors:
        requires = enumerate(self._runtime.requires)
        guilty = [number for number, text in requires if _named(text, complained)]
        hint = f"required for {self._interpreter}; available versions depend on the interpreter"
        telling = redact(_telling(complained), self._suite.secrets)
        return self._wrong(telling, hint, *(guilty if len(guilty) == 1 else ()))


def _named(requirement: str, complained: str) -> bool:
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", complained.lower()) is not None


def _telling(complained: str) -> str:
    """Return what uv complains of, without the frame that it draws."""
    frame = re.compile(r"^\W*((error|cause|Caused by): )?")
    complained = complained[complained.find("\nerror: ") + 1 :]  # its progress comes before
    lines = [frame.sub("", line).strip() for line in complained.splitlines()]
    reasons = [row for row in lines if row and not row.startswith(("Using ", "hint:", "warning:"))]
    return ": ".join(reasons[:_TELLING]) or "it gave no reason"


def _uv(label: str) -> Path:
    if (uv := locate("uv")) is None:
        raise ProgramMissing(f"runtime {label}: its environment needs uv, which is missing", UV.how)
    return uv


def _surroundings() -> dict[str, str]:
    """Return what uv receives of our environment: package indexes, proxies, certificates.

    uv brings certificates of its own; where the system has some, a proxy's may be among them.
    """
    passed = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("UV_") or name.upper() in _PASSED or name in _FOLDERS
    }
    trusted = os.environ.get("PIP_CERT") or (str(_CERTIFICATES) if _CERTIFICATES.exists() else "")
    trust = {"SSL_CERT_FILE": trusted} if trusted else {}
    return trust | passed | {"UV_PYTHON_DOWNLOADS": "never"}
