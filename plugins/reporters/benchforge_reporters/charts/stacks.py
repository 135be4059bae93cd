"""Bars in a row: a quantity of each role, and the slices of a launch in turns."""

from collections.abc import Mapping, Sequence
from typing import Final

from benchforge.plugin import Role, Trial, readable
from benchforge.plugin.drawing import Chart, ChartAxis, ChartRow, grid, svg, tick_texts, titled

_HEIGHT, _SLICES_HEIGHT = 24, 30
_TICKS = 3
ROLES: Final[tuple[Role, ...]] = ("server", "upstream", "backend", "loader")
"In the order of their bars; the page has a key for each."


def stacks(
    rows: Sequence[tuple[str, int, Mapping[Role, float]]], unit: str, caption: str
) -> Chart | None:
    """Return a row for each server: name, colour and value of each role; None without a value."""
    sums = [sum(by_role.values()) for _, _, by_role in rows]
    if not any(sums):
        return None
    axis = ChartAxis.from_zero(sums)
    scale = readable.scale(unit, [max(sums)])
    drawn = tuple(_row(name, colour, by_role, axis, scale) for name, colour, by_role in rows)
    return Chart(drawn, tick_texts(axis, scale.text, scale.unit, _TICKS), caption)


def _row(
    name: str, colour: int, by_role: Mapping[Role, float], axis: ChartAxis, scale: readable.Scale
) -> ChartRow:
    pieces, from_value, words = [grid(axis, _HEIGHT, _TICKS)], 0.0, []
    values = [(role, by_role[role]) for role in ROLES if by_role.get(role)]
    for role, value in values:
        start, end = axis.at(from_value), axis.at(from_value + value)
        words.append(f"{role} {scale.text(value)} {scale.unit}")
        box = f'x="{start}%" width="{round(end - start, 2)}%" y="4" height="16"'
        pieces.append(f'<rect class="role-{role}" {box}>{titled(words[-1])}</rect>')
        from_value += value
    if not values:
        return ChartRow(name, colour, svg(_HEIGHT, pieces[0], f"{name}: unknown"), "unknown")
    detail = " + ".join(scale.text(value) for _, value in values) if len(values) > 1 else ""
    drawing = svg(_HEIGHT, "".join(pieces), f"{name}: {', '.join(words)}")
    return ChartRow(name, colour, drawing, f"{scale.text(from_value)} {scale.unit}", detail)


def slices(trials: Sequence[Trial], colours: Mapping[str, int]) -> Chart | None:
    """Return a row for each server or client, with a bar for each slice; None without turns.

    It is the first launch, and a bar is as high as the slice was fast.
    """
    turning = [trial for trial in trials if trial.turns is not None and trial.measured]
    first = min((trial.block for trial in turning), default=0)
    launch = [trial for trial in turning if trial.block == first]
    if not launch:
        return None
    turns = [trial.turns for trial in launch if trial.turns]
    axis = ChartAxis.from_zero(slice_.end_s for turn in turns for slice_ in turn.slices)
    rows = tuple(_launch_row(trial, axis, colours) for trial in launch)
    caption = f"Slices of the launch in block {first}"
    return Chart(rows, tick_texts(axis, readable.figure, "s"), caption)


def _launch_row(trial: Trial, axis: ChartAxis, colours: Mapping[str, int]) -> ChartRow:
    subject = () if trial.turns is None else trial.turns.slices
    rates = [part.responses / part.seconds if part.seconds else 0.0 for part in subject]
    most, pieces = max(rates, default=0.0) or 1.0, [grid(axis, _SLICES_HEIGHT)]
    for slice_, rate in zip(subject, rates, strict=True):
        start, end = axis.at(slice_.start_s), axis.at(slice_.end_s)
        height = round((_SLICES_HEIGHT - 4) * rate / most, 1)
        title = titled(f"round {slice_.round}: {readable.figure(rate)} responses/s")
        corner = f'x="{start}%" width="{round(end - start, 2)}%" y="{_SLICES_HEIGHT - height}"'
        pieces.append(f'<rect class="role-server" {corner} height="{height}">{title}</rect>')
    is_client = trial.load is not None and trial.load.kind == "client"
    label = trial.case.driver if is_client else trial.case.server
    many = readable.counted(len(subject), "slice")
    about = f"{label}: {many}, at most {readable.figure(most)} responses/s"
    return ChartRow(label, colours.get(label), svg(_SLICES_HEIGHT, "".join(pieces), about), many)
