"""Runtimes that are ready: each asked from inside what it is, and what it lacks."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchforge.errors import ProgramMissing, TrialFailed
from benchforge.model.suite.runtime import OWN, Interpreter, Runtime
from benchforge.parts.command import Command
from benchforge.parts.part import Part, RunsPython
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.programs import interpreter_probe
from benchforge.run.programs.environments import environment, fetch
from benchforge.run.programs.interpreter_request import InterpreterCandidate
from benchforge.run.programs.interpreters import find
from benchforge.run.programs.lacking import of_runtime
from benchforge.run.sandbox.host import Host
from benchforge.run.sandbox.sandbox import Sandbox, complaint
from benchforge.suite.suite import Suite

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
    """Return every runtime that one of the parts names, found and built where it was not.

    `tell` hears what takes time. Raises ProgramMissing when an interpreter is not there, cannot be
    built or lacks a module, and SuiteErrors when its requirements cannot be met.
    """
    needed = needed_modules(parts)
    needed.pop(OWN, None)
    if not needed:
        return {}
    by_label: dict[str, Ready] = {}
    lacks: dict[str, list[str]] = {}
    with scratch_folder() as scratch, host.trial(scratch, "host") as sandbox:
        for label, modules in needed.items():
            folder = scratch / label
            folder.mkdir()
            interpreter = _find_interpreter(sandbox, suite, label, folder, tell)
            python, lock, hint = interpreter.path, "", ""
            if suite.runtimes[label].requires:
                python, lock = environment(sandbox, suite, label, interpreter, tell)
                hint = f"if it is damaged, remove {python.parents[2]}: it is built anew"
            answer = ask_interpreter(sandbox, label, python, modules, folder, hint)
            lacks[label] = answer["lacks"]
            by_label[label] = _ready(
                python, answer | {"requested": suite.runtimes[label].python}, lock
            )
    _check(suite, by_label, lacks)
    return by_label


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
    fetch(sandbox, label, runtime.python, folder)
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
        why = "".join(f": {line}" for line in complaint(finished).splitlines()[-1:])
        raise ProgramMissing(f"runtime {label}: {python} does not report what it is{why}", hint)
    # A package of a dotted name may print something as it is imported.
    answer: dict[str, Any] = json.loads(finished.printed.splitlines()[-1])
    return answer


def _check(suite: Suite, by_label: Mapping[str, Ready], lacks: Mapping[str, list[str]]) -> None:
    """Raise ProgramMissing, naming every module that a runtime lacks."""
    lacking = {label: modules for label, modules in lacks.items() if modules}
    if not lacking:
        return
    says = [f"runtime {label} lacks: {', '.join(modules)}" for label, modules in lacking.items()]
    hints = [
        of_runtime(label, suite.runtimes[label], by_label[label].python, modules)
        for label, modules in lacking.items()
    ]
    raise ProgramMissing("; ".join(says), "; ".join(hints))
