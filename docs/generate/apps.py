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
        'An app is plain code that a server serves: `app = "NAME"`, or your own as '
        '`app = "module:attribute"`. `..._published` is what a study really ran, beside the '
        "corrected one. Each says what it speaks, what it wants to be told by its environment, and "
        "what it imports.",
        table(("app", "speaks", "wants", "imports", "what it is"), map(_app, _found(_APPS, "app"))),
        "## Datasets",
        'What a backend is filled with: `dataset = "NAME"`, or the path of a folder of your own '
        "with a `dataset.toml`, from the suite's folder.",
        table(
            ("dataset", "fills", "into", "what it is"),
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
