"""The stages of a trial in their order; each is in the file of its name.

A trial alone, trials in turns (`turns/`) and a trial on hosts differ in who runs which stage: a
`Way`. `serve` takes the first two, and a host its part of each when it is called.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from benchforge.errors import TrialFailed
from benchforge.run.trial.scope import Serving, Steps, TrialRecorder, TrialScope
from benchforge.run.trial.stages.ask import AnsweringServer, ask
from benchforge.run.trial.stages.finish import finish
from benchforge.run.trial.stages.load import LoadedServer, load
from benchforge.run.trial.stages.start import start
from benchforge.run.trial.stages.warm_up import WarmServer, warm_up


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


@dataclass(frozen=True)
class Way(Generic[Scope, Started, Answering, Warm, Loaded]):
    """Who runs which stage of a trial."""

    start: Callable[[Scope], Steps[Started]]
    "All services start: backends, upstream servers, the server."
    ask: Callable[[Scope, Started], Answering]
    "The request is sent until the server answers rightly."
    warm_up: Callable[[Scope, Answering], Warm]
    "Users log in, answers are probed, a load runs that does not count."
    load: Callable[[Sequence[Scope], Sequence[Warm]], Sequence[Loaded]]
    "The load tool runs to its end, and all processes are looked at: this is measured."
    finish: Callable[[Scope, Loaded], None]
    "The load tool's output is read, and the server gets the request again."


def run(way: Way[Scope, Started, Answering, Warm, Loaded], scopes: Sequence[Scope]) -> None:
    """Take all stages of a trial, or of trials that are measured together. Raises what they do."""
    warm = together(scopes, [_warmed(way, scope) for scope in scopes])
    for scope, loaded in zip(scopes, way.load(scopes, warm), strict=True):
        with scope.recorder.blamed():
            way.finish(scope, loaded)


def _warmed(way: Way[Scope, Started, Answering, Warm, Loaded], scope: Scope) -> Steps[Warm]:
    services = yield from way.start(scope)
    return way.warm_up(scope, way.ask(scope, services))


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


LocalWay = Way[TrialScope, list[Serving], AnsweringServer, WarmServer, LoadedServer]
ALONE: LocalWay = Way(start, ask, warm_up, each(load), finish)
