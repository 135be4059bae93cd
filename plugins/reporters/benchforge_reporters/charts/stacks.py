"""A quantity of each role, one on the other: CPU time for each response, memory."""

from collections.abc import Mapping, Sequence
from typing import Final

from benchforge.plugin import Role, readable
from benchforge.plugin.drawing import Chart, ChartAxis, ChartRow, grid, svg, tick_texts, titled

_HEIGHT = 24
_TICKS = 3
ROLES: Final[tuple[Role, ...]] = ("server", "upstream", "backend", "loader")
"In the order of their bars; the page has a key for each."


def stacks(
    rows: Sequence[tuple[str, int, Mapping[Role, float]]], unit: str, caption: str
) -> Chart | None:
    """Return a row for each server: its name, its colour, and the value of each role.

    None where no server has a value.
    """
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
        pieces.append(
            f'<rect class="role-{role}" x="{start}%" width="{round(end - start, 2)}%" '
            f'y="4" height="16">{titled(words[-1])}</rect>'
        )
        from_value += value
    if not values:
        return ChartRow(name, colour, svg(_HEIGHT, pieces[0], f"{name}: unknown"), "unknown")
    detail = " + ".join(scale.text(value) for _, value in values)
    return ChartRow(
        name,
        colour,
        svg(_HEIGHT, "".join(pieces), f"{name}: {', '.join(words)}"),
        f"{scale.text(from_value)} {scale.unit}",
        detail if len(values) > 1 else "",
    )
