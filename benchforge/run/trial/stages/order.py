"""The stages of a trial in their order; each is in the file of its name.

A trial alone, trials in turns (`turns/`) and a trial on hosts differ in who runs which stage: a
`Way`. `serve` takes the first two, and a host its part of each when it is called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from benchforge.run.trial.scope import Serving, TrialScope
from benchforge.run.trial.stages.ask import AnsweringServer, ask
from benchforge.run.trial.stages.finish import finish
from benchforge.run.trial.stages.load import LoadedServer, load
from benchforge.run.trial.stages.start import start
from benchforge.run.trial.stages.steps import (
    Answering,
    Loaded,
    Scope,
    Started,
    Steps,
    Warm,
    each,
    together,
)
from benchforge.run.trial.stages.warm_up import WarmServer, warm_up


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


LocalWay = Way[TrialScope, list[Serving], AnsweringServer, WarmServer, LoadedServer]
ALONE: LocalWay = Way(start, ask, warm_up, each(load), finish)
