"""Code that servers serve from where it lies: is it there, before anything starts."""

from collections.abc import Iterator
from itertools import islice

from benchforge.parts.part import ServesCode
from benchforge.parts.wrong_option import WrongOption
from benchforge.suite.cases.parts import parts_by_scenario
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import Fault


def code_faults(suite: Suite) -> Iterator[Fault]:
    """Yield a fault for each server whose code is not there, at all points of the matrix.

    What a commit has, git alone can tell, when it is run.
    """
    for _, place, part in parts_by_scenario(suite):
        if not isinstance(part, ServesCode) or part.ref is not None:
            continue
        try:
            part.check_code(suite.path.parent)
        except WrongOption as error:
            table, _, label = place.partition(".")
            written = (one for one in error.options if one in part.model_fields_set)
            yield Fault((table, label, *islice(written, 1)), error.message, error.hint)
