"""An interpreter's description, from inside of it: interpreter_probe.py MODULE...

Also a plain program for Python 3.8 and newer; it prints one line of JSON.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def describe_interpreter(modules: Iterable[str]) -> dict[str, Any]:
    """Return what it is, its distributions, and of the modules which lack and which bring them."""
    wanted = list(modules)
    tops = "|".join({re.escape(module.partition(".")[0]) for module in wanted})
    packages: dict[str, str] = {}
    brings: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name, version = _name_and_version(distribution)
        if not name or name in packages:  # what an uninstall left; the first on the path counts
            continue
        packages[name] = version
        if tops and _has(distribution, tops):
            brings[name] = version
    return {
        "executable": sys.executable,
        "real_path": os.path.realpath(sys.executable),
        "implementation": platform.python_implementation(),
        "version": platform.python_version(),
        "build": " ".join(sys.version.split()),
        "packages": dict(sorted(packages.items(), key=lambda item: item[0].lower())),
        "brings": brings,
        "lacks": [module for module in wanted if not _importable(module)],
    }


def _name_and_version(distribution: importlib.metadata.Distribution) -> tuple[str, str]:
    """Return both, empty where they are missing.

    `distribution.metadata` parses the whole file at each use, which takes six times as long.
    """
    files = ("METADATA", "PKG-INFO", "")  # as importlib.metadata: the last is an .egg-info file
    text = next(filter(None, map(distribution.read_text, files)), "")
    fields = text.partition("\n\n")[0]  # the description follows
    return _field("name", fields), _field("version", fields)


def _field(name: str, fields: str) -> str:
    first = re.search(rf"^{name}:(.*)$", fields, re.IGNORECASE | re.MULTILINE)
    return first.group(1).strip() if first else ""


def _has(distribution: importlib.metadata.Distribution, tops: str) -> bool:
    """Whether a distribution has a module of a pattern at its top, by its list of files as text."""
    listed = distribution.read_text("top_level.txt")
    if listed:
        return bool(re.search(rf"^(?:{tops})\s*$", listed, re.MULTILINE))
    files = distribution.read_text("RECORD")
    if files is None:  # an .egg-info
        files = "\n".join(map(str, distribution.files or ()))
    return bool(re.search(rf'^"?(?:{tops})(?:/|\.(?!pth\b)|[,"]|$)', files, re.MULTILINE))


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except Exception:  # noqa: BLE001 - the package of a dotted name is imported: it may do anything
        return False


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, which no server sees
    print(json.dumps(describe_interpreter(sys.argv[1:])))  # noqa: T201 - that is the answer
