"""The slices of a launch in turns: whose turn it was, and how fast each server or client was."""

from collections.abc import Mapping, Sequence

from benchforge.plugin import Trial, readable
from benchforge.plugin.drawing import Chart, ChartAxis, ChartRow, grid, svg, tick_texts, titled

_HEIGHT = 30


def slices(trials: Sequence[Trial], colours: Mapping[str, int]) -> Chart | None:
    """Return a row for each server or client, with a bar for each slice; None without turns.

    It is the first launch, and a bar is as high as the slice was fast.
    """
    turning = [trial for trial in trials if trial.turns is not None and trial.measured]
    first = min((trial.block for trial in turning), default=0)
    launch = [trial for trial in turning if trial.block == first]
    if not launch:
        return None
    axis = ChartAxis.from_zero(
        [one.end_s for trial in launch if trial.turns for one in trial.turns.slices]
    )
    rows = tuple(_row(trial, axis, colours) for trial in launch)
    caption = f"Slices of the launch in block {first}"
    return Chart(rows, tick_texts(axis, readable.figure, "s"), caption)


def _row(trial: Trial, axis: ChartAxis, colours: Mapping[str, int]) -> ChartRow:
    of = () if trial.turns is None else trial.turns.slices
    rates = [one.responses / one.seconds if one.seconds else 0.0 for one in of]
    most, pieces = max(rates, default=0.0) or 1.0, [grid(axis, _HEIGHT)]
    for slice_, rate in zip(of, rates, strict=True):
        start, end = axis.at(slice_.start_s), axis.at(slice_.end_s)
        height = round((_HEIGHT - 4) * rate / most, 1)
        title = titled(f"round {slice_.round}: {readable.figure(rate)} responses/s")
        pieces.append(
            f'<rect class="role-server" x="{start}%" width="{round(end - start, 2)}%" '
            f'y="{_HEIGHT - height}" height="{height}">{title}</rect>'
        )
    is_client = trial.load is not None and trial.load.kind == "client"
    label = trial.case.driver if is_client else trial.case.server
    many = readable.counted(len(of), "slice")
    about = f"{label}: {many}, at most {readable.figure(most)} responses/s"
    return ChartRow(label, colours.get(label), svg(_HEIGHT, "".join(pieces), about), many)
