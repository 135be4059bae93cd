"""Response times by percentile: a line a trial, which ends where too few responses are left."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from benchforge.plugin import Histogram, Trial, readable
from benchforge.plugin.drawing import COLOURS, ChartAxis, stretched, svg, titled

_HEIGHT = 210
_ENOUGH, _LEAST = 100, 10
"""Responses that took longer than a percentile: with fewer than the first the line is dotted,
with fewer than the second it ends."""
_MARKS = (50.0, 90.0, 99.0, 99.9, 99.99)
_POINTS = (0, *range(5, 90, 5), *range(90, 99), 99, 99.2, 99.5, 99.8, 99.9, 99.95, 99.98, 99.99)
MOST_TRIALS = 40
"Trials of a case that are drawn, the first ones."
_Points = tuple[tuple[float, float], ...]
"Percentiles, each with its response time in ms."


@dataclass(frozen=True)
class _Line:
    server: str
    trial: int
    sure: _Points
    "Points where enough responses took longer."
    unsure: _Points


def percentiles(trials: Sequence[Trial], colours: Mapping[str, int]) -> Markup | None:
    """Return the lines of trials with a histogram of response times; None if none has one."""
    lines = list(_lines(trials))
    if not lines:
        return None
    points = [point for line in lines for point in (*line.sure, *line.unsure)]
    most, last = max(time for _, time in points), max(_place(share) for share, _ in points)
    heights = ChartAxis.from_zero([most * 1.05])
    paths = "".join(_path(line, float(heights.high), last, colours) for line in lines)
    pieces = (*_background(heights, last), stretched("97%", _HEIGHT, paths))
    return svg(_HEIGHT + 18, "".join(pieces), _in_words(lines), "percentiles")


def _lines(trials: Sequence[Trial]) -> Iterator[_Line]:
    drawn: dict[str, int] = {}
    for trial in trials:
        latency = trial.reading.latency if trial.reading else None
        name = trial.case.title
        if latency is None or drawn.get(name, 0) >= MOST_TRIALS or not latency.count:
            continue
        drawn[name] = drawn.get(name, 0) + 1
        sure, unsure = _curve(latency)
        if sure or unsure:
            yield _Line(trial.case.server, trial.number, sure, unsure)


def _curve(latency: Histogram) -> tuple[_Points, _Points]:
    count = latency.count
    shares = [share for share in _POINTS if count * (100 - share) / 100 >= _LEAST]
    times = _quantiles(latency, shares)
    sure = sum(count * (100 - share) / 100 >= _ENOUGH for share in shares)
    return times[:sure], times[max(0, sure - 1) :]


def _quantiles(latency: Histogram, shares: Sequence[float]) -> _Points:
    """Return each percentile in ms: one pass, since `quantile` of each would be one pass each."""
    count, counted, shares_left = latency.count, 0, list(shares)
    times: list[tuple[float, float]] = []
    for value, number in latency.values():
        counted += number
        while shares_left and counted >= count * shares_left[0] / 100:
            times.append((shares_left.pop(0), value / 1000))
        if not shares_left:
            break
    return tuple(times)


def _place(share: float) -> float:
    """Return where a percentile is: 0 at p0, 1 at p90, 2 at p99."""
    return math.log10(100 / (100 - share))


def _background(heights: ChartAxis, last: float) -> Iterator[str]:
    ticks = [tick for tick in heights.ticks() if tick]
    for tick in ticks:
        y = round(_HEIGHT * (1 - float(tick / heights.high)), 1)
        unit = " ms" if tick == ticks[-1] else ""
        yield f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
        yield f'<text x="2" y="{y - 3}">{readable.figure(float(tick))}{unit}</text>'
    for share in _MARKS:
        if _place(share) <= last:
            x = round(97 * _place(share) / last, 2) if last else 0
            yield f'<line class="grid" x1="{x}%" x2="{x}%" y1="0" y2="{_HEIGHT}"/>'
            yield f'<text x="{x}%" y="{_HEIGHT + 14}" text-anchor="middle">p{share:g}</text>'


def _path(line: _Line, most: float, last: float, colours: Mapping[str, int]) -> str:
    kind = f"curve colour{colours.get(line.server, 0) % COLOURS}"
    title = titled(f"{line.server}, trial {line.trial}")

    def steps(points: Sequence[tuple[float, float]]) -> str:
        places = (
            f"{round(1000 * _place(share) / (last or 1))},{round(1000 * (1 - time / most))}"
            for share, time in points
        )
        return f"M{' '.join(places)}"

    sure = f'<path class="{kind}" d="{steps(line.sure)}">{title}</path>' if line.sure else ""
    unsure = f'<path class="{kind} few" d="{steps(line.unsure)}"/>' if len(line.unsure) > 1 else ""
    return sure + unsure


def _in_words(lines: Sequence[_Line]) -> str:
    by_server: dict[str, list[float]] = {}
    for line in lines:
        by_server.setdefault(line.server, []).append((line.unsure or line.sure)[-1][1])
    texts = {name: readable.amounts("ms", max(ends))[0] for name, ends in by_server.items()}
    listed = readable.listed(f"{server} ends at {text}" for server, text in texts.items())
    return f"Response times by percentile: {listed}"
