"""Stages of a load: a rate for some time, or a ramp from one rate to another."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from benchforge.plugin import Duration, Histogram, Rate, StageReading, WrongOption, readable
from benchforge_loaders.pace.report import StageCounts

HINT = 'such as stages = ["0..200/s in 10s", "200/s for 30s"]'
_STAGE = re.compile(r"(?:(\S+?)\s*\.\.\s*)?(\S+)\s+(for|in)\s+(\S+)")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?")
_RATE, _DURATION = TypeAdapter(Rate), TypeAdapter(Duration)


class Stage(NamedTuple):
    """Requests per second at its begin and at its end, and its length in seconds."""

    begin: float
    end: float
    seconds: float

    @property
    def word(self) -> str:
        """The stage as the driver takes it."""
        return ":".join(map(repr, self))

    @property
    def due(self) -> float:
        """Number of requests that are due in it."""
        return (self.begin + self.end) / 2 * self.seconds


def stages_of(texts: Iterable[str]) -> tuple[Stage, ...]:
    """Return the stages that texts describe. Raises WrongOption for a text that is no stage."""
    return tuple(map(_stage, texts))


def mean_rate(stages: Sequence[Stage]) -> float:
    """Return the requests per second over all stages."""
    return sum(stage.due for stage in stages) / sum(stage.seconds for stage in stages)


def readings(
    texts: Sequence[str], counted: Sequence[Sequence[StageCounts]], seconds: float
) -> tuple[StageReading, ...]:
    """Return what each stage measured, of a load that took so many seconds."""
    left_s, measured = seconds, []
    for text, stage, parts in zip(texts, stages_of(texts), counted, strict=True):
        each, readings_of_stage = stage.seconds / len(parts), []
        for counts in parts:
            lasted = min(each, max(left_s, 0.0))
            left_s -= lasted
            readings_of_stage.append(
                StageReading(
                    stage=text,
                    seconds=lasted,
                    errors=counts.failed,
                    unfinished=counts.in_flight,
                    latency=counts.durations.histogram,
                )
            )
        measured.append(
            readings_of_stage[0] if len(readings_of_stage) == 1 else _whole(text, readings_of_stage)
        )
    return tuple(measured)


def _whole(text: str, parts: Sequence[StageReading]) -> StageReading:
    return StageReading(
        stage=text,
        seconds=sum(part.seconds for part in parts),
        errors=sum(part.errors for part in parts),
        unfinished=sum(part.unfinished for part in parts),
        latency=Histogram.added(part.latency for part in parts),
        parts=tuple(parts),
    )


def _stage(text: str) -> Stage:
    match = _STAGE.fullmatch(text.strip())
    if not match:
        raise WrongOption(f"{text!r} is not a stage", "stages", hint=HINT)
    first, last, word, length = match.groups()
    if (word == "in") != (first is not None):
        rule = "a ramp takes its time `in`" if first else "one rate lasts `for` a time"
        raise WrongOption(f"{text!r}: {rule}", "stages", hint=HINT)
    try:
        end, seconds = _rate(last), _DURATION.validate_python(length)
        begin = end if first is None else _rate(first)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise WrongOption(f"{text!r}: {message}", "stages", hint=HINT) from None
    if seconds <= 0 or min(begin, end) < 0:
        raise WrongOption(f"{text!r}: a stage takes time, and has a rate", "stages", hint=HINT)
    return Stage(float(begin), float(end), float(seconds))


def _rate(text: str) -> Rate:
    return _RATE.validate_python(float(text) if _NUMBER.fullmatch(text) else text)


def described(texts: Sequence[str]) -> str:
    """Return the stages in words."""
    return f"stages: {readable.listed(texts)}"
