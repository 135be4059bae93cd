"""Turns of a made trial: slices of 100 ms, one after the other, with another server between."""

from dataclasses import replace
from typing import Any

from benchforge.model.trial.turns import ProbedSlice, Slice, Turns


def turns(*responses: int, **changed: Any) -> Turns:
    """A slice for each number of responses, of 0.1 s each; a pause of 0.1 s follows each."""
    even: dict[str, Any] = {"failed": 0, "drained_s": 0.004, "cpu_s": 0.05}
    even |= {"loader_cpu_s": 0.02, "foreign_cpu_s": 0.01}
    slices = tuple(
        Slice(round=n, start_s=0.2 * n, end_s=0.2 * n + 0.1, sent=count, responses=count, **even)
        for n, count in enumerate(responses, 1)
    )
    options: dict[str, Any] = {"trials": (1, 2), "seed": 1, "slice_s": 0.1, "cpus": 2}
    options |= {"rounds": len(slices), "slices": slices, "frozen_s": 0.1 * len(slices)}
    return Turns(**options | {"frozen_cpu_s": 0.0, "longest_freeze_s": 0.1} | changed)


def other_slices(took: Turns, **changed: Any) -> Turns:
    """The same turns with other values in each slice."""
    slices = tuple(replace(slice_, **changed) for slice_ in took.slices)
    return took.model_copy(update={"slices": slices})


def probed_slices(*bursts: float, rate: float = 500) -> tuple[ProbedSlice, ...]:
    """Slices of three lengths in turn; all answer so many more, in shares of a second."""
    return tuple(
        ProbedSlice(slice_s=length_s, seconds=length_s, responses=round(rate * (length_s + burst)))
        for burst in bursts
        for length_s in (0.025, 0.1, 0.4)
    )
