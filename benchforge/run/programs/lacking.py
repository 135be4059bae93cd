"""Python packages that an interpreter lacks: how the user's own come in."""

import errno
import importlib.metadata
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from benchforge.model.suite.code import Runtime
from benchforge.parts.part import Part, RunsPython
from benchforge.suite.secrets.redact import SHORTEST

PAGE = "docs/how-to/packages-of-your-app.md"
_CLOSED = (
    "a trial changes no files but its own: write below the folder that TMPDIR names, or name the "
    'folder at the top of the suite, such as writes = ["../data"]'
)
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


def left_out(text: str, part: Part) -> str:
    """Return a variable of the caller that a text names and the part does not receive; else ""."""
    own = getattr(part, "environment", os.environ)  # a part without it takes no variable
    received = {"PATH", "HOME", "LANG", "TMPDIR", *own}
    return next((n for n in _VARIABLE.findall(text) if n in os.environ and n not in received), "")


def in_log(text: str, part: Part, label: str) -> str:
    """Return what to do where a log names a missing module, variable or file; else ""."""
    if os.strerror(errno.EROFS) in text:
        return _CLOSED
    match = _NO_MODULE.search(text)
    if match is None:
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
    """Return how the modules that a runtime's interpreter lacks get in.

    What a path leads to is the user's own environment; another interpreter gets one from us.
    """
    # Where we have the module ourselves, we know what to install for it.
    brought = importlib.metadata.packages_distributions()
    tops = (module.partition(".")[0] for module in modules)
    packages = list(dict.fromkeys(brought.get(top, [top])[0] for top in tops))
    if "/" in runtime.python and not runtime.requires:
        with_pip = [str(python), "-m", "pip", "install", *packages]
        with_uv = ["uv", "pip", "install", "--python", str(python), *packages]
        there = python.with_name("pip").exists()
        return f"install it there: {shlex.join(with_pip if there else with_uv)}"
    quoted = ", ".join(f'"{one}"' for one in packages)
    return f"add to runtimes.{label}.requires: {quoted}"
