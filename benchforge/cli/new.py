"""`benchforge new suite`: a suite to start from, that runs as it is."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

import click

from benchforge.cli.say import show
from benchforge.errors import CannotKeep, Unusable

_PACKAGE = Path(__file__).parents[1]
_STARTER = _PACKAGE / "starter"
_SUITE = "suite.toml"
_APP = "sample_app.py"


@click.group("new")
def command() -> None:
    """Write something to start from."""


@command.command("suite")
@click.argument("path", type=click.Path(path_type=Path), default=Path())
@click.option("--from", "brought", metavar="NAME", help="Copy a suite that benchforge brings.")
def suite(path: Path, brought: str | None) -> None:
    """Write a suite that runs as it is. PATH is a folder, or a file that ends in .toml.

    Without --from it measures a sample app, which is written beside it and needs Python alone.

    Exit codes: 0 it is written; 2 something is there already; 5 it cannot be written.
    """
    place = path if path.suffix == ".toml" else path / _SUITE
    if brought is None:
        texts = {place: _read(_STARTER / _SUITE), place.with_name(_APP): _read(_STARTER / _APP)}
    else:
        texts = {place: _read(_named(brought))}
    _write(texts)
    show(f"wrote: {', '.join(map(str, texts))}\nnext:  benchforge run {place}")


def _named(name: str) -> Path:
    """Return a suite of ours. Raises Unusable, which tells which there are."""
    # In a clone they are beside the package, in a wheel inside it.
    folders = (_PACKAGE / "suites", _PACKAGE.parent / "suites")
    suites = {file.stem: file for folder in folders for file in sorted(folder.glob("*.toml"))}
    if name in suites:
        return suites[name]
    near = difflib.get_close_matches(name, suites, 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise Unusable(f"--from {name}: no such suite", f"{guess}there are: {', '.join(suites)}")


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _write(texts: Mapping[Path, str]) -> None:
    """Write files, the suite first.

    Raises Unusable, before anything is written, when the suite is there or another file is there
    with another content; CannotKeep when one cannot be written.
    """
    suite = next(iter(texts))
    try:
        for file, text in texts.items():
            if os.path.lexists(file) and (file == suite or file.read_bytes() != text.encode()):
                raise Unusable(
                    f"{file}: is there already, and is not overwritten",
                    "give another PATH, such as a new folder: benchforge new suite bench",
                )
        suite.parent.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8")
    except FileExistsError as error:
        raise Unusable(f"{error.filename}: is no folder", "a suite's name ends in .toml") from error
    except OSError as error:
        reason = f"{error.filename or suite}: cannot be written: {error.strerror}"
        raise CannotKeep(reason, "give another PATH") from error
