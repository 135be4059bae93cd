"""Parts by kind and name, through the entry points of the installed distribution."""

import importlib.metadata
import re
import sys
from typing import cast

import pytest
from front_door import captured

from benchforge.errors import Unusable
from benchforge.parts.kinds import GROUP, Kind
from benchforge.parts.registry import Registry
from benchforge.parts.sound import unsound

NAMES = sorted(
    point.name
    for point in importlib.metadata.entry_points(group=GROUP)
    if point.value.startswith(("benchforge.", "benchforge_"))
)


def test_the_distribution_brings_parts_of_every_kind() -> None:
    assert {name.partition("-")[0] for name in NAMES} == {
        *("backend", "client", "loader", "metric", "reader", "reporter", "server")
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_point_brings_the_part_that_it_names(name: str) -> None:
    kind, _, part = name.partition("-")
    registry = Registry().part(cast("Kind", kind), part)
    assert (registry.kind, registry.name) == (kind, part)
    assert registry.__doc__
    assert unsound(registry) is None  # a command that reads a suite looks at parts of others alone


def test_an_unknown_part_is_told_with_the_nearest_name() -> None:
    with pytest.raises(Unusable, match="no server named 'gunicron'") as actual:
        Registry().part("server", "gunicron")
    assert actual.value.hint.startswith("did you mean 'gunicorn'?")


def test_a_broken_plugin_breaks_only_who_asks_for_it() -> None:
    broken = importlib.metadata.EntryPoint("loader-broken", "no_such_module", GROUP)
    registry = Registry((*tuple(importlib.metadata.entry_points(group=GROUP)), broken))
    assert registry.part("loader", "ab").name == "ab"
    with pytest.raises(Unusable, match="cannot be imported"):
        registry.part("loader", "broken")


def test_a_part_that_nobody_asks_for_is_not_imported() -> None:
    program = (
        'import sys\nfrom benchforge.parts.registry import Registry as R\nR().part("loader", "ab")'
    )
    done = captured([sys.executable, "-c", f"{program}\nprint(*sys.modules)"], check=True)
    parts = {name for name in done.stdout.split() if name.startswith("benchforge_")}
    assert "benchforge_loaders.ab.ab" in parts
    assert [name for name in parts if re.search("wrk|benchforge_servers|metrics", name)] == []
