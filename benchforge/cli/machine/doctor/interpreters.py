"""Interpreters that are there, as they say of themselves, and what a suite's runtimes lack."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, warn
from benchforge.errors import ProgramMissing
from benchforge.run.programs.interpreters import all_interpreters, find
from benchforge.run.programs.lacking import of_runtime
from benchforge.run.programs.needed import Needed
from benchforge.run.programs.runtimes import ask_interpreter
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.suite import Suite


def all_of_them(sandbox: Sandbox, folder: Path) -> Iterator[MachineFinding]:
    """Yield every interpreter of the machine, virtual environments excepted."""
    for interpreter in dict.fromkeys(all_interpreters(sandbox, folder)):
        yield ok(str(interpreter), str(interpreter.path))


def of_runtimes(
    sandbox: Sandbox, suite: Suite, form: Needed, folder: Path
) -> Iterator[MachineFinding]:
    """Yield each runtime that a suite's cases need."""
    for label, modules in form.modules.items():
        subject, runtime = f"runtimes.{label}", suite.runtimes[label]
        own = Path(tempfile.mkdtemp(dir=folder))  # what an interpreter prints is added to a file
        try:
            interpreter = find(sandbox, runtime.python, label, suite.path.parent, own)
        except ProgramMissing as error:
            if runtime.download and "/" not in runtime.python:
                yield warn(subject, f"{runtime.python!r} is missing; a run downloads it")
            else:
                says = error.message.removeprefix(f"runtime {label}: ")
                yield MachineFinding("missing", subject, says, error.hint)
            continue
        if runtime.requires:
            built = "an environment is built from it once"
            yield ok(
                subject,
                f"{interpreter} ({interpreter.path}); {built}: {', '.join(runtime.requires)}",
            )
            continue
        lacks = ask_interpreter(sandbox, label, interpreter.path, modules, own)["lacks"]
        if lacks:
            says = f"{interpreter} ({interpreter.path}) lacks {', '.join(lacks)}"
            yield MachineFinding(
                "missing", subject, says, of_runtime(label, runtime, interpreter.path, lacks)
            )
        else:
            yield ok(
                subject,
                f"{interpreter} ({interpreter.path}), with {', '.join(modules) or 'no package'}",
            )
