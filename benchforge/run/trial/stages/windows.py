"""Windows in a trial's loads: when they open, and what the answers in them were."""

import math
import random
from dataclasses import replace
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field

from benchforge.errors import TrialFailed
from benchforge.model.trial.answers.monitor import LoadAnswers
from benchforge.model.trial.reading import Load, Reading
from benchforge.run.http.request import once
from benchforge.run.http.wire.capture import LoadWindows
from benchforge.run.http.wire.judged import Judge, RightOf
from benchforge.run.http.wire.record import tallied
from benchforge.run.trial.scope import TrialScope
from benchforge.run.trial.stages.ask import AnsweringServer

_SHARE = 0.005
"Share of the measured load for which windows are open, before answers in them are followed."
_AROUND, _IN_FIRST_SLICES = 24, 8
_EACH_S, _MOST_IN_LOAD = 7, 12
"Windows in each second of the measured load, and in all of it: one takes up to 1 ms of the load."
_SHORTEST_S, _LONGEST_S = 0.0002, 0.005
_AROUND_S, _MOST_AROUND_S = 0.003, 0.4
_SPARE = 2  # a window opens at random, and waits for the one before it
_FIRST_S = 0.1  # connections that open together may be served otherwise than later ones
_SHARE_OF_FIRST = 4
_BRIEFEST_S, _OF_TENFOLD = 0.001, 5
"Shortest load of unknown length, and its windows for each ten times that it may be longer."


class LoadConnections(NamedTuple):
    """The connections whose answers are judged."""

    service: str
    "Name of the process that they reach, such as server-flask."
    port: Annotated[int, Field(ge=1, le=65_535)]
    behind: str = ""
    "Encryption of the load, if they are those behind it; empty if they are the load's own."
    why: str = ""
    "Reason why nobody can read them; empty if somebody can."


def connections_of(scope: TrialScope, answering: AnsweringServer) -> LoadConnections:
    """Return the connections whose answers are judged; they are there, whoever may read them."""
    case, probe, root = scope.case, answering.probe, urlsplit(answering.probe.root)
    of_part = LoadConnections(answering.services[-1].name, root.port or answering.port)
    if case.server.outside() or not (case.hosts or scope.sandbox.mode.network == "private"):
        return of_part._replace(why="the trial has no network of its own")
    speaks = "HTTP/2" if probe.version == "HTTP/2" else "TLS" if probe.encrypted else ""
    if not speaks:
        return of_part
    return _behind(scope, answering, speaks) or of_part._replace(why=f"the load speaks {speaks}")


def _behind(scope: TrialScope, answering: AnsweringServer, speaks: str) -> LoadConnections | None:
    """Return the connections of a proxy to its only upstream server, if these can be read.

    They cannot be where that server alone does not give the right answer.
    """
    labels = scope.case.server.upstreams()
    for serving in answering.services:
        if serving.role == "upstream" and [serving.site.label] == [*labels]:
            gives = serving.part.gives(serving.site)
            root = urlsplit(gives.get("url", ""))
            if root.scheme != "http" or root.port is None or {"socket", "uwsgi"} & gives.keys():
                return None
            try:
                once(scope.sandbox, replace(answering.probe, root=gives["url"], version="HTTP/1.1"))
            except TrialFailed:
                return None
            proxy = f"{scope.case.server.name}'s {speaks}"
            return LoadConnections(serving.name, root.port, proxy)
    return None


def around_s(reading: Reading | None, load: Load | None) -> float:
    """Return the length of a load like the measured one for its windows, in seconds."""
    if reading is None or load is None or load.concurrency is None or not reading.responses:
        return _MOST_AROUND_S
    each_s = _AROUND_S + (1 + load.concurrency) * reading.seconds / reading.responses
    return min(_MOST_AROUND_S, _SPARE * _AROUND * each_s)


def around(scope: TrialScope, length_s: float) -> tuple[list[float], float]:
    """Return moments in a load that does not count, and how long each window is, in seconds."""
    rng, early = _random(scope, "around"), _AROUND // _SHARE_OF_FIRST
    first = [rng.random() * min(_FIRST_S, length_s) for _ in range(early)]
    return [*first, *spread(rng, _AROUND - early, length_s)], _AROUND_S


def in_first_slice(scope: TrialScope, number: int, length_s: float) -> tuple[list[float], float]:
    """Return the same for a slice that does not count, of which there are several."""
    return spread(_random(scope, f"first {number}"), _IN_FIRST_SLICES, length_s), _AROUND_S


def in_load(scope: TrialScope) -> tuple[list[float], float]:
    """Return moments in the measured load, and how long each window is, in seconds."""
    driver, rng = scope.case.driver, _random(scope, "load")
    length_s = driver.declared_s()
    if isinstance(getattr(driver, "requests", None), int):  # its length is a guess
        return in_unknown(rng, length_s), _SHORTEST_S
    return spread(rng, _in_measured(length_s), length_s), window_s(length_s)


def in_unknown(rng: random.Random, longest_s: float) -> list[float]:
    """Return random moments of a load that may be much shorter: most are soon."""
    tenfolds = math.log10(max(longest_s / _BRIEFEST_S, 10))
    powers = spread(rng, math.ceil(tenfolds * _OF_TENFOLD), tenfolds)
    return [_BRIEFEST_S * 10**power for power in powers]


def in_slices(scope: TrialScope, slices: int, slice_s: float) -> tuple[list[list[float]], float]:
    """Return the moments in each slice of a server, and how long each window is, in seconds."""
    moments: list[list[float]] = [[] for _ in range(slices)]
    length_s = slices * slice_s
    for moment_s in spread(_random(scope, "load"), _in_measured(length_s), length_s):
        number, after_s = divmod(moment_s, slice_s)
        moments[min(int(number), slices - 1)].append(after_s)
    return moments, window_s(length_s)


def window_s(length_s: float) -> float:
    """Return how long a window is in a measured load of a length, in seconds."""
    return min(_LONGEST_S, max(_SHORTEST_S, _SHARE * length_s / _in_measured(length_s)))


def _in_measured(length_s: float) -> int:
    return min(_MOST_IN_LOAD, max(1, round(_EACH_S * length_s)))


def judged(
    scope: TrialScope, windows: LoadWindows, right_of: RightOf, of_probes: frozenset[str]
) -> LoadAnswers:
    """Return what the answers in all windows were; write their record and wrong bodies.

    `of_probes` are the digests of the bodies that probes got. Raises OSError.
    """
    if windows.why:
        return LoadAnswers(why=windows.why)
    judge = Judge(right_of, of_probes)
    began_s = scope.recorder.load_began_s + windows.ahead_s
    record = judge.record(windows.end(), windows.port, began_s)
    record = record.model_copy(update={"behind": windows.behind})
    judge.write(scope.inputs.folder, record)
    return tallied(record)


def _random(scope: TrialScope, phase: str) -> random.Random:
    return random.Random(f"{scope.inputs.step.seed}:windows:{phase}")  # noqa: S311


def spread(rng: random.Random, count: int, length_s: float) -> list[float]:
    """Return random moments, one in each of equal parts of a length."""
    return [length_s * (number + rng.random()) / count for number in range(count)]
