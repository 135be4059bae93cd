"""What a load tool's counts mean where its load had pauses: no time of it is over a whole load."""

from benchforge.model.trial.reading import Reading
from benchforge.model.trial.turns import Turns

WHY_UNKNOWN = "in turns: each slice begins with a burst, so that only ratios of rates are known"
_OF_A_LOAD_WITHOUT_PAUSES: dict[str, object] = {
    "latency": None,
    "latency_by_status": {},
    "service_time": None,
    "phases": {},
    "in_flight": None,
    "series": None,
    "percentiles_us": None,
    "mean_us": None,
    "latency_samples": None,
    "censored": 0,
    "censored_from_us": None,
}


def in_turns(reading: Reading, turns: Turns) -> Reading:
    """Return a reading with the seconds of the slices, and without response times."""
    return reading.model_copy(update={**_OF_A_LOAD_WITHOUT_PAUSES, "seconds": turns.seconds})
