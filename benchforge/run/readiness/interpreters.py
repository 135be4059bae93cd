"""Interpreters that are there, as they say of themselves, and what a suite's runtimes lack."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchforge.errors import ProgramMissing
from benchforge.run.finding import Finding, ok, warn
from benchforge.run.here import Here
from benchforge.run.interpreters import every, find
from benchforge.run.needed import Needed
from benchforge.run.ready import told
from benchforge.suite.suite import Suite


def all_of_them(here: Here, folder: Path) -> Iterator[Finding]:
    """Yield every interpreter of the machine, virtual environments excepted."""
    for found in dict.fromkeys(every(here, folder)):
        yield ok(str(found), str(found.path))


def of_runtimes(here: Here, suite: Suite, form: Needed, folder: Path) -> Iterator[Finding]:
    """Yield each runtime that a suite's cases need."""
    for label, modules in form.modules.items():
        subject, runtime = f"runtimes.{label}", suite.runtimes[label]
        own = Path(tempfile.mkdtemp(dir=folder))  # what an interpreter prints is added to a file
        try:
            found = find(here, runtime.python, label, suite.path.parent, own)
        except ProgramMissing as error:
            if runtime.download and "/" not in runtime.python:
                yield warn(subject, f"{runtime.python!r} is not here, and is downloaded by a run")
            else:
                says = error.message.removeprefix(f"runtime {label}: ")
                yield Finding("missing", subject, says, error.hint)
            continue
        if runtime.requires:
            built = "an environment of its own is built from it once"
            yield ok(subject, f"{found} ({found.path}); {built}: {', '.join(runtime.requires)}")
            continue
        lacks = told(here, label, found.path, modules, own)["lacks"]
        if lacks:
            quoted = ", ".join(f'"{one}"' for one in lacks)
            says = f"{found} ({found.path}) lacks {', '.join(lacks)}"
            yield Finding("missing", subject, says, f"{subject}.requires = [{quoted}] or more")
        else:
            yield ok(subject, f"{found} ({found.path}), with {', '.join(modules) or 'no package'}")
