"""The built-in apps and datasets, from the files that describe them."""

import tomllib
from pathlib import Path

import benchforge_backends
import benchforge_servers

from docs.generate.text import page_of, plain, table

_APPS = Path(next(iter(benchforge_servers.__path__))) / "apps"
_DATASETS = Path(next(iter(benchforge_backends.__path__))) / "datasets"


def page() -> str:
    """Return the page."""
    return page_of(
        "Apps and datasets",
        'An app is the code that a server runs. Name a built-in app with `app = "NAME"`, or your '
        "own "
        'with `app = "module:attribute"`. `..._published` is the app that a study really ran, '
        "next to "
        "the corrected one. The table lists the protocol of each app, the environment variables "
        "that it reads, and the modules that it imports.",
        table(
            ("app", "protocol", "variables", "imports", "description"),
            map(_app, _found(_APPS, "app")),
        ),
        "## Datasets",
        'A dataset is the data of a backend: `dataset = "NAME"`, or the path of your own folder '
        "with "
        "a `dataset.toml`, relative to the suite's folder.",
        table(
            ("dataset", "backend", "target", "description"),
            map(_dataset, _found(_DATASETS, "dataset")),
        ),
    )


def _found(folder: Path, kind: str) -> list[Path]:
    return sorted(folder.glob(f"*/{kind}.toml"))


def _app(file: Path) -> tuple[str, ...]:
    told = tomllib.loads(file.read_text())
    return (
        f"`{file.parent.name}`",
        told["protocol"],
        ", ".join(f"`{name}`" for name in told.get("environment", [])),
        ", ".join(told.get("modules", [])),
        plain(told["description"]),
    )


def _dataset(file: Path) -> tuple[str, ...]:
    told = tomllib.loads(file.read_text())
    return (
        f"`{file.parent.name}`",
        told.get("backend", "postgresql"),
        f"`{told['database']}`" if "database" in told else "",
        plain(told["description"]),
    )
