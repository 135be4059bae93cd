"""The answers that a run shows while it goes on: after each whole block, between two loads."""

import math
import time
from collections.abc import Sequence
from operator import attrgetter

from benchforge.checks.summary import concluded
from benchforge.cli.console.progress import ProgressLine
from benchforge.cli.measure.run.inputs import PreparedRun
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.trial.trial import Trial
from benchforge.stats.inference.interval import LEAST
from benchforge.stats.summary.completeness import whole
from benchforge.stats.verdict.interim import interim, looks

_PATIENCE = 50  # a look takes a fiftieth of the run's time at most


class InterimLooks:
    """Looks at the whole blocks of a run: none at a smoke, none once the plan is complete."""

    def __init__(self, prepared: PreparedRun, progress: ProgressLine) -> None:
        self._header, self._metrics = prepared.header, prepared.suite.metrics
        self._blocks = prepared.graph.blocks
        # A scenario may have fewer blocks than others: then later blocks are shorter.
        in_order = sorted(self._header.plan, key=attrgetter("block", "position"))
        self._last = {one.block: one.position for one in in_order}
        self._progress, self._looks = progress, looks(prepared.graph.blocks)
        self._next_s = 0.0
        self._seen = LEAST - 1

    def after(self, trials: Sequence[Trial], ceilings: Sequence[Ceiling]) -> None:
        """Show what is known if the last trial completed a block, and a look is worth its time."""
        block = trials[-1].block
        now_s = time.monotonic()
        if (
            self._header.smoke
            or self._header.searches
            or trials[-1].position != self._last.get(block)
            or not self._seen < block < self._blocks
            or now_s < self._next_s
            or whole(self._header, trials) < block
        ):
            return
        self._seen = block
        try:
            summary = concluded(
                self._header, trials, self._metrics, (), ceilings, looks=self._looks
            )
        except Exception:  # noqa: BLE001 - of a plugin's metric: the report at the end says it
            self._next_s = math.inf
            return
        self._progress.answers(block, [*interim(summary, self._looks)])
        ended_s = time.monotonic()
        self._next_s = ended_s + _PATIENCE * (ended_s - now_s)
