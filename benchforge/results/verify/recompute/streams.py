"""The streams of mixes again: rendered from the suite's text, the seed and the block."""

from collections.abc import Iterator

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.trial.trial import Trial
from benchforge.results.recomputed.verified import RecomputedValue, plain
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result
from benchforge.suite.load import of_result
from benchforge.suite.mix.record import amount
from benchforge.suite.mix.stream import Mix

_Streams = Iterator[RecomputedValue | FileFault]


def streams(result: Result) -> _Streams:
    """The requests of each mix, and how many there were of each kind."""
    mixed = [trial for trial in result.trials if trial.model.stream is not None]
    if not mixed:
        return
    try:
        workloads = of_result(result.header.model, result.registry).workloads
    except BenchforgeError as error:
        yield RecomputedValue(mixed[0], ("stream",), cannot=error.message.splitlines()[0])
        return
    made: dict[tuple[str, int, int], tuple[str, tuple[int, ...]]] = {}
    for trial in mixed:
        workload = workloads.get(trial.model.case.scenario)
        if workload is None:
            yield trial.fault("its scenario has no kinds", "stream")
        elif not workload.whole:
            reason = "its requests are made of a file that the result does not hold"
            yield RecomputedValue(trial, ("stream", "sha256"), cannot=reason)
        else:
            yield from _stream(result, trial, workload, made)


def _stream(
    result: Result,
    trial: Parsed[Trial],
    workload: Mix,
    made: dict[tuple[str, int, int], tuple[str, tuple[int, ...]]],
) -> _Streams:
    stream, block = trial.model.stream, trial.model.block
    assert stream is not None  # noqa: S101 - of a mix
    records = amount(result.driver(KeptTrial(trial, trial.model)))
    key = trial.model.case.scenario, block, records
    if key not in made:
        made[key] = workload.digest(result.header.model.seed, block, records)
    sha256, counts = made[key]
    yield RecomputedValue(trial, ("stream", "records"), records)
    yield RecomputedValue(trial, ("stream", "sha256"), sha256)
    if list(stream.kinds) != list(workload.shares):
        yield trial.fault(
            f"the suite has the kinds {', '.join(workload.shares)}", "stream", "kinds"
        )
        return
    for (label, share), count in zip(workload.shares.items(), counts, strict=True):
        path = "stream", "kinds", label
        yield RecomputedValue(trial, (*path, "share"), share)
        yield RecomputedValue(trial, (*path, "records"), count)
        yield RecomputedValue(trial, (*path, "request"), plain(workload.first[label][0]))
