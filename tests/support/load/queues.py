"""Loads on simulated servers: what each request took, and what a load tool would count."""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Setup:
    """A load: closed if `rate` is None, else open."""

    connections: int = 8
    workers: int = 4
    service_s: float = 0.005
    heavy: bool = False
    "True for service times with a long tail, and a stall."
    think_s: float = 0.0
    pipeline: int = 1
    timeout_s: float | None = None
    fails: float = 0.0
    rate: float | None = None
    duration_s: float = 2.0
    body: int = 120
    seed: int = 1


@dataclass
class Simulated:
    """What happened: times of the answered requests, and counts."""

    setup: Setup
    times: list[float] = field(default_factory=list)
    "Of each answered request; with pipelining of each batch, as wrk has them."
    requests: int = 0
    failed: int = 0
    late: int = 0
    duration_s: float = 0.0

    @property
    def bytes(self) -> int:
        return self.requests * (self.setup.body + 100)


Serve = Callable[[float], float]
"Takes the time at which a request arrives, and returns when its response is complete."


def simulate(setup: Setup) -> Simulated:
    """Serve the load by workers, first come, first served."""
    random_ = random.Random(setup.seed)
    result = Simulated(setup)
    free = [0.0] * setup.workers
    stall = random_.uniform(0, setup.duration_s) if setup.heavy else None

    def serve(arrives: float) -> float:
        began = max(arrives, heapq.heappop(free))
        takes = random_.expovariate(1 / setup.service_s)
        if setup.heavy:
            takes = setup.service_s * random_.paretovariate(1.5)
            if stall is not None and began <= stall < began + takes + 0.01:
                takes += 0.5
        heapq.heappush(free, began + takes)
        return began + takes

    if setup.rate is not None:
        _open(setup, result, random_, serve)
    else:
        _closed(setup, result, random_, serve)
    result.duration_s = setup.duration_s * random_.uniform(1.0, 1.02)
    return result


def _closed(setup: Setup, result: Simulated, random_: random.Random, serve: Serve) -> None:
    ready = [(random_.uniform(0, 0.001), number) for number in range(setup.connections)]
    heapq.heapify(ready)
    while ready:
        sent, connection = heapq.heappop(ready)
        if sent >= setup.duration_s:
            continue
        ended = max(serve(sent) for _ in range(setup.pipeline))
        if ended > setup.duration_s:
            continue  # under way at the end: in no count
        _keep(setup, result, random_, ended - sent, setup.pipeline)
        pause = random_.expovariate(1 / setup.think_s) if setup.think_s else 0.0
        heapq.heappush(ready, (ended + pause, connection))


def _open(setup: Setup, result: Simulated, random_: random.Random, serve: Serve) -> None:
    due = 0.0
    while (due := due + random_.expovariate(setup.rate or 1.0)) < setup.duration_s:
        ended = serve(due)
        if ended <= setup.duration_s:
            _keep(setup, result, random_, ended - due, 1)


def _keep(setup: Setup, result: Simulated, random_: random.Random, took: float, count: int) -> None:
    result.requests += count
    result.failed += sum(random_.random() < setup.fails for _ in range(count))
    if setup.timeout_s is not None and took > setup.timeout_s:
        result.late += 1
    else:
        result.times.append(took)
