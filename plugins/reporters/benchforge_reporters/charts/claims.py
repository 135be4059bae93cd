"""All claims about ratios on one axis, as a chart."""

from collections.abc import Sequence

from benchforge.plugin.drawing import Chart, ChartRow, ratio_ticks
from benchforge_reporters.charts.ratios import drawn, ratio, ratio_axis
from benchforge_reporters.document.claims import ClaimLine


def claims_chart(lines: Sequence[ClaimLine]) -> Chart | None:
    """Return a row for each claim that has a place on the axis; None if no claim has."""
    axis = ratio_axis(lines)
    if axis is None:
        return None
    rows = tuple(
        ChartRow(
            f"{line.sign} {line.name} {line.hypothesis}",
            None,
            ratio(line, axis),
            line.estimate,
            "; ".join(filter(None, (line.source, line.remark))),
        )
        for line in lines
        if drawn(line)
    )
    return Chart(
        rows, ratio_ticks(axis), "ratio, with its 95 % interval; the diamond was published"
    )
