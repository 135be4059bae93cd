"""The built-in apps and datasets, from the files that describe them."""

import tomllib
from pathlib import Path

from benchforge_servers.python.app_server import app_of, built_in

from benchforge.parts.database import dataset
from docs.generate.text import page_of, plain, table

_DATASETS = Path(dataset.__file__).parent / "datasets"


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
            map(_app, built_in()),
        ),
        "## Datasets",
        'A dataset is the data of a backend: `dataset = "NAME"`, or the path of your own folder '
        "with "
        "a `dataset.toml`, relative to the suite's folder.",
        table(
            ("dataset", "backend", "target", "description"),
            map(_dataset, sorted(_DATASETS.glob("*/dataset.toml"))),
        ),
    )


def _app(name: str) -> tuple[str, ...]:
    app = app_of(name)
    return (
        f"`{name}`",
        app.protocol or "",
        ", ".join(f"`{variable}`" for variable in app.environment),
        ", ".join(app.modules),
        plain(app.description),
    )


def _dataset(file: Path) -> tuple[str, ...]:
    told = tomllib.loads(file.read_text())
    return (
        f"`{file.parent.name}`",
        told.get("backend", "postgresql"),
        f"`{told['database']}`" if "database" in told else "",
        plain(told["description"]),
    )
