"""The user's own app, looked at without importing it: are its module and its object there."""

import difflib
import importlib.util
import re
import symtable
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchforge.plugin import WrongOption

# A module with one of these may have names that no look at its text tells.
_UNTOLD = re.compile(r"import \*|__getattr__|globals\(\)|\bexec\(|\bsetattr\(")


def check(target: str, folder: Path, *, elsewhere: bool) -> None:
    """Raise WrongOption for a `module:attribute` that cannot be served from a folder.

    `elsewhere` says that its modules may also be where no look leads: on another interpreter or on
    a PYTHONPATH of their own.
    """
    module, _, attribute = target.partition(":")
    steps = module.split(".")
    if not _begins_in(folder, steps[0]):
        if not elsewhere and not _installed(steps[0]):
            raise _no_module(module, folder)
        return
    file = _file_of(folder, steps)
    if file is None:
        raise _no_module(module, folder)
    name = attribute.removesuffix("()").partition(".")[0]
    if file.suffix == ".py" and not _begins_in(file.parent, name):
        _check_name(name, file, compiles_here=not elsewhere)


def _begins_in(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or _module_in(folder, name) is not None


def _module_in(folder: Path, name: str) -> Path | None:
    """Return the file of a module of one name: Python, or compiled."""
    files = (folder / f"{name}.py", *sorted(folder.glob(f"{name}.*so")), folder / f"{name}.pyc")
    return next((file for file in files if file.is_file()), None)


def _file_of(folder: Path, steps: Iterable[str]) -> Path | None:
    """Return the file of a dotted module, the folder of a package without one; None for neither."""
    place = folder
    *packages, last = steps
    for step in packages:
        place /= step
        if not place.is_dir():
            return None
    if (place / last).is_dir():
        return _module_in(place / last, "__init__") or place / last
    return _module_in(place, last)


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _no_module(module: str, folder: Path) -> WrongOption:
    there = list(dict.fromkeys(_modules(folder)))
    near = difflib.get_close_matches(module, there, 1)
    ends = [one for one in there if one.rpartition(".")[2] == module.rpartition(".")[2]]
    guess = "".join(f"did you mean {one!r}? " for one in (near or ends)[:1])
    return WrongOption(
        f"no module {module!r} in {folder}",
        "app",
        "directory",
        hint=f"{guess}'directory' is the folder that {module.partition('.')[0]!r} is imported from;"
        " it starts at the suite's folder",
    )


def _modules(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("*.py")):
        yield file.stem
    for file in sorted(folder.glob("*/*.py")):
        yield f"{file.parent.name}.{file.stem}".removesuffix(".__init__")


def _check_name(name: str, file: Path, *, compiles_here: bool) -> None:
    """Raise WrongOption where a module's text shows that it has no such name."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
        table = symtable.symtable(text, str(file), "exec")
    except SyntaxError as error:
        if compiles_here:
            message = f"{file}:{error.lineno}: {error.msg}"
            raise WrongOption(message, "app", hint="correct it: it cannot be imported") from error
        return
    except (OSError, ValueError, RecursionError):  # unreadable to us: the server will tell
        return
    names = set(_bound(table))
    if name in names or _UNTOLD.search(text):
        return
    near = difflib.get_close_matches(name, names, 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise WrongOption(
        f"{file} has no {name!r}",
        "app",
        hint=f"{guess}an app is written as 'module:attribute', or as 'module:make_app()'",
    )


def _bound(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names that a module binds, in its functions also by `global`."""
    at_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        bound = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        if bound and (at_top or symbol.is_declared_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _bound(inner)
