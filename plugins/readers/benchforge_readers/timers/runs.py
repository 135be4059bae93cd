"""Times of single runs, as lists of JSON."""

from collections.abc import Sequence

from benchforge_readers.printed import given

_MOST = 1_000_000


def times_of(values: Sequence[object], name: str) -> tuple[float, ...]:
    """Return a list of times in seconds. Raises ValueError for what is no time."""
    if len(values) > _MOST:
        raise ValueError(f"{name}: more than {_MOST} times")
    times = []
    for index, value in enumerate(values):
        fact = given(value, f"{name}.{index}", "s")
        if fact is None or float(fact.value) < 0:
            raise ValueError(f"{name}.{index}: {value!r} is not a time")
        times.append(float(fact.value))
    return tuple(times)
