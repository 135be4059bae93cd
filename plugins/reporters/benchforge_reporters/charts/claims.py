"""All claims about ratios on one axis, as a chart."""

from collections.abc import Sequence

from benchforge.plugin.drawing import Chart, ChartRow, ratio_ticks
from benchforge_reporters.charts.ratios import drawn, ratio, ratio_axis
from benchforge_reporters.document.claim_lines import SIGNS, ClaimLine


def claims_chart(lines: Sequence[ClaimLine]) -> Chart | None:
    """Return a row for each claim that has a place on the axis; None if no claim has."""
    axis = ratio_axis([line.text for line in lines])
    if axis is None:
        return None
    rows = tuple(
        ChartRow(
            f"{SIGNS[line.state]} {line.name} {line.hypothesis}",
            None,
            ratio(line.text, axis),
            line.estimate,
            "; ".join(filter(None, (line.published, line.remark))),
        )
        for line in lines
        if drawn(line.text)
    )
    return Chart(
        rows, ratio_ticks(axis), "ratio, with its 95 % interval; the diamond was published"
    )
