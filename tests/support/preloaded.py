"""What a call of benchforge imports and builds: once, for all forks of who imports this.

Each call would import about 400 modules and build the models that it reads anew: 0.3 s of CPU.
"""

import functools
import gc
import importlib
import pkgutil
from collections.abc import Iterator
from importlib.metadata import PathDistribution
from io import StringIO

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from benchforge.model.values.distribution import own_distribution
from benchforge.report.page import frame


def modules() -> Iterator[str]:
    """Yield the names of the core's modules, and of those that bring parts and commands."""
    yield from _below("benchforge")
    for point in own_distribution().entry_points.select(group="benchforge"):
        yield from _below(point.module)


def _below(name: str) -> Iterator[str]:
    yield name
    for path in getattr(importlib.import_module(name), "__path__", ()):
        for module in pkgutil.walk_packages([path], f"{name}."):
            if not module.name.endswith(("__main__", ".boot", ".relay", ".testing")):
                yield module.name


def models(label: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    """Yield all models that were imported."""
    for model in label.__subclasses__():
        yield model
        yield from models(model)


for name in dict.fromkeys(modules()):
    importlib.import_module(name)
for model in list(models()):
    model.model_rebuild()
for template in (pages := frame._environment()).list_templates(extensions=["j2"]):
    pages.get_template(template)  # each report writes a page
Console(file=StringIO()).print(Table("rich imports more as it prints"))
# What is installed stays as it is, and each run reads what all its packages say of themselves.
_read = functools.cache(PathDistribution.read_text)
PathDistribution.read_text = _read  # type: ignore[assignment, method-assign]
gc.freeze()  # so that collections of a fork copy no page of what is here
