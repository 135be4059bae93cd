"""While a run goes on: a line in place on a terminal, a few lines in a pipe."""

import io
from types import SimpleNamespace
from typing import cast

from benchforge.cli.console.progress import ProgressLine
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.verdict.interim import InterimAnswer
from benchforge.suite.plan import Measurement, RunGraph

IN_PLACE = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Planned(list[int]):
    until, blocks = SimpleNamespace(method="decision"), 24

    def before(self, block: int) -> list[int]:
        return [2] * (block - 1)


def shown(stream: io.StringIO, *intervals: tuple[float, float]) -> str:
    """Return what is written in as many rounds as there are intervals after them."""
    progress = ProgressLine(cast("RunGraph", Planned(range(48))), stream)
    case = SimpleNamespace(name=SimpleNamespace(title="duel · a · load"), find=None)
    for block, (low, high) in enumerate(intervals, 1):
        step = SimpleNamespace(block=block, position=1, case=case)
        progress.trial(cast("Measurement", step), 1, 1, 100 - 20 * block)
        progress.phase("load")
        fields = {"method": "paired t of log-ratios", "level": 0.95, "n": block, "value": 1.5}
        ratio = Estimate.model_validate({**fields, "low": low, "high": high})
        progress.answers(block, [InterimAnswer("duel: a / b", "open", ratio, "1")])
        progress.phase("finish")
    progress.end()
    return stream.getvalue()


def test_a_terminal_has_one_line_with_the_ratio_so_far_and_the_time_to_the_end() -> None:
    text = shown(Terminal(), (0.47, 2.76), (1.45, 1.56))
    assert "\n" not in text
    lines = text.split(IN_PLACE)[1:]
    assert lines[0] == "Round 1 of at most 24 · at most 1 min 20 s left · start"
    assert "Round 1 of at most 24 · no narrow interval yet · at most 1 min 20 s left" in lines[2]
    assert lines[-2].startswith("Round 2 of at most 24 · so far 1.50×, 1.45× to 1.56× · at most 1 ")
    assert "2.76" not in text
    assert lines[-1] == ""
    assert max(map(len, lines)) < 80


def test_progress_in_a_pipe_has_few_lines_and_nothing_in_place() -> None:
    text = shown(io.StringIO(), *[(1.45, 1.56)] * 9)
    assert "\r" not in text
    first, remark = text.splitlines()
    assert first == "after 1 of at most 24 rounds, duel: a / b · so far 1.50×, 1.45× to 1.56×"
    assert "Ctrl-C ends the run" in remark
