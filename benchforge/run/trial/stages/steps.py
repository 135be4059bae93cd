"""Steps of trials that are measured together: while one becomes ready, the next ones start."""

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeVar

from benchforge.errors import TrialFailed
from benchforge.run.trial.recorder import TrialRecorder


class Recorded(Protocol):
    """A trial under way."""

    @property
    def recorder(self) -> TrialRecorder:
        """Its record so far."""
        ...


Scope = TypeVar("Scope", bound=Recorded)
Started = TypeVar("Started")
Answering = TypeVar("Answering")
Warm = TypeVar("Warm")
Loaded = TypeVar("Loaded")

Steps = Generator[None, None, Warm]
"Pauses after each process that it started, so that another trial can start its processes."


def each(
    load: Callable[[Scope, Warm], Loaded],
) -> Callable[[Sequence[Scope], Sequence[Warm]], list[Loaded]]:
    """Return a stage that loads the servers of several trials one after another."""
    return lambda scopes, warm: [load(*trial) for trial in zip(scopes, warm, strict=True)]


def together(scopes: Sequence[Recorded], trials: Sequence[Steps[Warm]]) -> list[Warm]:
    """Take the steps of all trials in turn, and return their results.

    Raises the first failure once all have ended; at once where the apparatus failed.
    """
    results: dict[int, Warm] = {}
    failed: list[TrialFailed] = []
    with contextlib.ExitStack() as closing:
        for steps in trials:
            closing.callback(steps.close)  # where another one fails
        waiting = deque(enumerate(trials))
        while waiting:
            number, steps = waiting.popleft()
            try:
                with scopes[number].recorder.blamed():
                    if _paused(steps, results, number):
                        waiting.append((number, steps))
            except TrialFailed as error:
                if error.about == "apparatus":
                    raise
                failed.append(error)
    if failed:
        raise failed[0]
    return [results[number] for number in range(len(trials))]


def _paused(steps: Steps[Warm], results: dict[int, Warm], number: int) -> bool:
    """Take one step; return False, and keep the result, where it was the last."""
    try:
        next(steps)
    except StopIteration as end:
        results[number] = end.value
        return False
    return True
