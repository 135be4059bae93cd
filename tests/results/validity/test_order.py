"""A trial that ended before its load was known does not differ from the others of its case."""

from pathlib import Path

import pytest
from made import plain

from benchforge.model.files.file import Parsed
from benchforge.model.trial.reading import Load
from benchforge.model.trial.trial import Trial
from benchforge.results.validity.order import _alike


def parsed(number: int, connections: int | None) -> Parsed[Trial]:
    load = None if connections is None else Load(connections=connections)
    model = plain.trial(number=number, load=load)
    return Parsed(Path(f"{number}.json"), model, lambda: model.model_dump_json().encode())


@pytest.mark.parametrize(
    ("loads", "faults"),
    [((None, 2, 2), 0), ((2, None, 2), 0), ((None, 2, None, 3), 1), ((2, 3), 1)],
    ids=str,
)
def test_only_loads_that_are_known_are_compared(loads: tuple[int | None, ...], faults: int) -> None:
    """A host that is lost before its part begins leaves such a trial, and the run goes on."""
    trials = [parsed(number, load) for number, load in enumerate(loads, 1)]
    assert len([*_alike(trials, {})]) == faults
