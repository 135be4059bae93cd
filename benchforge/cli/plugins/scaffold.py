"""A package with a part of one's own, written from the files below new/: it works at once."""

import keyword
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from benchforge.errors import CannotKeep, Unusable
from benchforge.parts.registry import Registry

Begun = Literal["loader", "server", "reader"]
_END = ".txt"  # so that nobody takes a template for a module of ours, or for a test


def begin(kind: Begun, name: str, folder: Path, registry: Registry) -> list[Path]:
    """Write the package into a new folder and return its files.

    Raises Unusable for a name that no part can have, or that one has already, and for a folder that
    is not empty; CannotKeep when it cannot be written.
    """
    _check_name(kind, name, registry)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Unusable(f"{folder}: it exists already", "choose another with --folder")
    words = {
        "NAME": name,
        "DASHED": name.replace("_", "-"),
        "CLASS": "".join(word.capitalize() for word in name.split("_")),
        "KIND": kind,
    }
    templates = files("benchforge.cli.plugins") / "templates"
    written: list[Path] = []
    try:
        for subfolder in ("both", kind):
            for parts, text in _template_files(templates / subfolder, ()):
                path = folder.joinpath(*(_filled(part, words) for part in parts))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_filled(text, words))
                written.append(path)
    except OSError as error:
        where = error.filename or folder
        raise CannotKeep(f"{where}: {error.strerror}", "choose another with --folder") from error
    return sorted(written)


def _check_name(kind: Begun, name: str, registry: Registry) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        hint = "it becomes part of a module's name, such as my_tool"
        raise Unusable(
            f"{name!r}: use lower-case letters, digits and '_', and begin with a letter", hint
        )
    if origins := registry.origins(kind, name):
        hint = "choose another name: two parts of one name cannot be used"
        raise Unusable(f"{kind}-{name} is installed already: {origins[0]}", hint)


def _template_files(
    place: Traversable, parts: tuple[str, ...]
) -> list[tuple[tuple[str, ...], str]]:
    template_files: list[tuple[tuple[str, ...], str]] = []
    for entry in place.iterdir():
        if entry.is_dir():
            template_files += _template_files(entry, (*parts, entry.name))
        elif entry.name.endswith(_END):
            template_files.append(((*parts, entry.name.removesuffix(_END)), entry.read_text()))
    return template_files


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub("|".join(words), lambda match: words[match[0]], text)
