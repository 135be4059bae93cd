"""What each stage of a load measured."""

from collections.abc import Iterator, Sequence

from benchforge.plugin import Histogram, StageReading, Trial, readable

_TAIL_RESPONSES = 1000
"Responses behind a p99: ten are then beyond it."


def stages_of(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a sentence for each stage of the loads of a case."""
    readings = [trial.reading.stages for trial in trials if trial.reading is not None]
    for number, stages in enumerate(zip(*readings, strict=False), 1):
        yield f"stage {number}, {stages[0].stage}: {_measured(stages)}"


def _measured(stages: Sequence[StageReading]) -> str:
    latency = Histogram.added(stage.latency for stage in stages)
    errors = sum(stage.errors for stage in stages)
    unfinished = sum(stage.unfinished for stage in stages)
    seconds = sum(stage.seconds for stage in stages)
    if not seconds:
        return "not reached"
    says = [f"{readable.figure(latency.count / seconds)} responses/s"]
    for share, wanted in ((0.5, 1), (0.99, _TAIL_RESPONSES)):
        value = latency.quantile(share, censored=errors + unfinished)
        if latency.count >= wanted:
            shown = "unknown" if value is None else readable.amount("s", value / 1e6)
            says.append(f"p{share * 100:g} {shown}")
    if errors:
        says.append(readable.counted(errors, "error"))
    if unfinished:
        says.append(f"{readable.exact(unfinished)} without an answer at the end")
    return ", ".join(says)
