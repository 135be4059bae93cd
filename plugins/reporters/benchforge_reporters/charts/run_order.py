"""All trials in the order in which they were measured: a drift would be a slope."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchforge.plugin import CaseSummary, Trial, readable
from benchforge.plugin.drawing import (
    Chart,
    ChartAxis,
    ChartRow,
    grid,
    mark,
    svg,
    tick_texts,
    titled,
)
from benchforge_reporters.text.tables import Column

_HEIGHT, _FOREIGN = 74, 30
_REACH = 0.5
"Relative distance from a case's level at the upper and the lower edge."
_MOST_TRIALS = 2_000
"Trials that are drawn: of more, evenly spread ones."


@dataclass(frozen=True)
class Lane:
    """A scenario, and the column that is drawn of it."""

    name: str
    cases: Sequence[CaseSummary]
    column: Column | None


def run_order(
    lanes: Sequence[Lane], trials: Sequence[Trial], colours: Mapping[str, int]
) -> Chart | None:
    """Return a row for each scenario and one for other programs; None with fewer than 2 trials."""
    ordered = sorted(trials, key=lambda trial: (trial.started, trial.number))
    if len(ordered) < 2:  # noqa: PLR2004 - an order needs two
        return None
    start = ordered[0].started
    minutes = {
        trial.number: (trial.started - start).total_seconds() / 60
        for trial in ordered[:: max(1, len(ordered) // _MOST_TRIALS)]
    }
    axis = ChartAxis.from_zero(minutes.values())
    rows = [_lane(lane, trials, axis, minutes, colours) for lane in lanes]
    others = _others([trial for trial in ordered if trial.number in minutes], axis, minutes)
    return Chart((*rows, others), tick_texts(axis, readable.figure, "min"))


def _lane(
    lane: Lane,
    trials: Sequence[Trial],
    axis: ChartAxis,
    minutes: Mapping[int, float],
    colours: Mapping[str, int],
) -> ChartRow:
    pieces = list(_background(axis))
    numbers: set[int] = set()
    words = []
    for number, server, value, distance in _distances(lane):
        if number in minutes:
            numbers.add(number)
            text = lane.column.scale.text(value) if lane.column else ""
            words.append(f"trial {number}: {server} {text}, {readable.change(distance)}")
            x, y = axis.at(minutes[number]), _height(distance)
            pieces.append(mark(x, y, colours.get(server, 0), words[-1]))
    for trial in trials:
        mine = trial.case.scenario == lane.name and not trial.case.placebo
        if mine and trial.number in minutes and trial.number not in numbers:
            title = titled(f"trial {trial.number}: {trial.case.server}, not counted")
            centre = f'x="{axis.at(minutes[trial.number])}%" y="{_HEIGHT / 2}"'
            pieces.append(f'<use href="#cross" {centre} class="cross">{title}</use>')
    about = f"{lane.name} in measuring order: {readable.listed(words, 20)}"
    return ChartRow(lane.name, None, svg(_HEIGHT, "".join(pieces), about), "")


def _distances(lane: Lane) -> Iterator[tuple[int, str, float, float]]:
    """Yield each trial, its server, its value, and its relative distance from the median."""
    for case in lane.cases:
        for line in lane.column.lines(case)[:1] if lane.column else ():
            for trial_sample in line.samples:
                value = trial_sample.sample.value
                if value is not None and line.median:
                    yield trial_sample.trial, case.case.server, value, value / line.median - 1


def _height(distance: float) -> float:
    return round(_HEIGHT / 2 * (1 - max(-0.96, min(0.96, distance / _REACH))), 1)


def _background(axis: ChartAxis) -> Iterator[str]:
    yield grid(axis, _HEIGHT)
    for distance in (-_REACH / 2, 0.0, _REACH / 2):
        y, zero = _height(distance), "" if distance else " zero"
        yield f'<line class="grid{zero}" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
        if distance:
            yield f'<text x="2" y="{y - 2}">{readable.change(distance)}</text>'


def _others(trials: Sequence[Trial], axis: ChartAxis, minutes: Mapping[int, float]) -> ChartRow:
    """Return the share of the CPUs that other programs and other machines took in each trial."""
    shares: dict[int, float] = {}
    for trial in trials:
        for check in trial.checks:
            if check.topic == "others" and check.value is not None:
                shares[trial.number] = shares.get(trial.number, 0.0) + check.value
    pieces = [f'<line class="grid zero" x1="0" x2="100%" y1="{_FOREIGN}" y2="{_FOREIGN}"/>']
    for number, share in shares.items():
        height = round(_FOREIGN * min(1.0, max(0.0, share)), 1)
        title = titled(f"trial {number}: others used {readable.percent(share)} of the CPUs")
        corner = f'x="{axis.at(minutes[number])}%" width="3" y="{_FOREIGN - height}"'
        pieces.append(f'<rect class="role-other" {corner} height="{height}">{title}</rect>')
    most = readable.percent(max(shares.values(), default=0.0))
    about = f"CPU of others, at most {most}" if shares else "CPU of others: unknown"
    return ChartRow("others' CPU", None, svg(_FOREIGN, "".join(pieces), about), "")
