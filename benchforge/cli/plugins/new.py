"""`benchforge plugins new`: a package with a part of one's own."""

import importlib.util
import keyword
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import cast

import click

from benchforge.cli.console.options import PATH
from benchforge.cli.console.say import show
from benchforge.errors import Unusable, can_write
from benchforge.parts.kinds import KINDS, Kind
from benchforge.parts.registry import Registry
from benchforge.parts.sound import CLASSES
from benchforge.run.locate import locate
from benchforge.text.program import as_typed

_TEMPLATES = Path(__file__).with_name("templates")
_END = ".txt"  # so that nobody takes a template for a module of ours, or for a test
_FOLDERS = {"loader": "driver", "client": "driver"}  # they answer the same questions
_BUILT_WITH = ("hatchling", "editables", "pytest")


@click.command("new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--folder", type=PATH, metavar="DIR", help="Folder to create.  [default: benchforge-NAME]"
)
def command(kind: str, name: str, folder: Path | None) -> int:
    """Write a package with a part of this kind called NAME.

    It works and passes its tests at once.

    Exit codes: 0 written; 2 the name or the folder cannot be used; 5 a file cannot be written.
    """
    dashed = f"benchforge-{name.replace('_', '-')}"
    package = Path(dashed) if folder is None else folder
    written = begin(cast("Kind", kind), name, package, Registry())
    check, uses = f"plugins check {kind}-{name}", f"run examples/{name}.toml"
    match kind:
        case "loader" | "client":
            check += " --output tests/outputs/healthy"
        case "reader":
            check += " --output tests/outputs/healthy.txt"
            uses = "audit tests/outputs/healthy.txt"
        case "reporter":
            uses += f" --report {name}"
    program = as_typed("benchforge")
    lines = [
        *(str(path) for path in written),
        "",
        "next:",
        f"  cd {package}",
        *(f"  {line}" for line in _installing()),
        f"  {_own_python()} -m pytest",
        f"  {program} {check}",
        f"  {program} {uses}",
    ]
    show("\n".join(lines))
    return 0


def _installing() -> list[str]:
    """Return the lines that install the package beside us, and fetch nobody's."""
    python = _own_python()
    install = f"{python} -m pip install"
    if importlib.util.find_spec("pip") is None and (uv := locate("uv")):
        install = f"{shlex.quote(str(uv))} pip install --python {python}"
    absent = [name for name in _BUILT_WITH if importlib.util.find_spec(name) is None]
    lines = [f"{install} {' '.join(absent)}"] if absent else []
    return [*lines, f"{install} --no-index --no-deps --no-build-isolation -e ."]


def _own_python() -> str:
    typed = as_typed("python")
    return typed if typed != "python" or shutil.which(typed) else shlex.quote(sys.executable)


def begin(kind: Kind, name: str, folder: Path, registry: Registry) -> list[Path]:
    """Write the package into a new folder and return its files.

    Raises Unusable for a wrong name, a name that is taken, or a folder that is not empty, and
    CannotKeep for a folder that cannot be written.
    """
    _check_name(kind, name, registry)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Unusable(f"{folder}: it exists already", "choose another with --folder")
    words = {
        "NAME": name,
        "DASHED": name.replace("_", "-"),
        "CLASS": "".join(word.capitalize() for word in name.split("_")),
        "KIND": kind,
        "BASE": CLASSES[kind].__name__,
        "UPPER": name.upper(),
    }
    written: list[Path] = []
    with can_write(folder, "choose another with --folder"):
        for templates in (_TEMPLATES / "both", _TEMPLATES / _FOLDERS.get(kind, kind)):
            for template in templates.rglob(f"*{_END}"):
                file_name = str(template.relative_to(templates)).removesuffix(_END)
                path = folder / _filled(file_name, words)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_filled(template.read_text(), words))
                written.append(path)
    return sorted(written)


def _check_name(kind: Kind, name: str, registry: Registry) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        message = f"{name!r}: use lower-case letters, digits and '_', and begin with a letter"
        raise Unusable(message, "it becomes part of a module's name, such as my_tool")
    if origins := registry.origins(kind, name):
        hint = "choose another name: two parts of one name cannot be used"
        raise Unusable(f"{kind}-{name} is installed already: {origins[0]}", hint)


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub("|".join(words), lambda match: words[match[0]], text)
