"""What benchforge 0.2.0 wrote: results, a suite with its server, and a plugin of each kind."""

import tarfile
from pathlib import Path
from typing import Any

STORED = Path(__file__).parents[2] / "results/stored"


def unpacked(name: str, folder: Path) -> Path:
    """Unpack a result, or the plugins, below a folder. Return the result's folder."""
    into = folder / name
    with tarfile.open(STORED / f"{name}.tar.xz") as archive:
        # Python before 3.11.4 has no filters.
        filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(into, **filtered)  # noqa: S202 - of the project
    results = [file.parent for file in into.glob("*/result.json")]
    return results[0] if results else into
