"""The suites that benchforge brings: each can be named in place of a file."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_FOLDERS = (".", "studies")


def brought() -> dict[str, Path]:
    """Return the file of each suite by its name."""
    inside = _PACKAGE / "suites"  # of a wheel; in a clone they are beside the package
    folder = inside if inside.is_dir() else _PACKAGE.parent / "suites"
    files = (file for name in _FOLDERS for file in (folder / name).glob("*.toml"))
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}


def named(path: Path) -> Path:
    """Return the file of a suite: where there is none of that path, a name may be meant."""
    return path if path.is_file() else brought().get(str(path), path)


def names_like(path: Path) -> str:
    """Return a hint for a suite that is not there: the name that is meant, and which there are."""
    from benchforge.suite.toml.faults import nearest  # noqa: PLC0415 - --help needs none

    names = brought()
    if path.stem in names:
        return f"that name is a built-in suite: write {path.stem} instead of the path"
    return nearest(path.stem, names, "benchforge brings")
