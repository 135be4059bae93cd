"""Of what a number is, as programs read it."""

from pydantic import JsonValue

from benchforge.model.values.case_name import CaseName
from benchforge.results.over_time.levels import LevelKey


def identity(case: CaseName, measure: LevelKey) -> dict[str, JsonValue]:
    """Return the case and the metric of numbers that are compared."""
    return {
        "case": case.model_dump(mode="json"),
        "title": case.title,
        "metric": measure.metric,
        "of": measure.of,
        "unit": measure.unit,
        "better": measure.better,
    }
