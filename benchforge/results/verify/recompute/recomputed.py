"""A result as it was read, and what a recomputation says of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from benchforge.checks.summary import concluded
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.places import JsonPath
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry
from benchforge.results.conclude import installed_metrics
from benchforge.results.recomputed.large_summary import ComparedLines, compared_after
from benchforge.results.recomputed.summed_up import SummedUp, summed_up
from benchforge.results.recomputed.verified import RecomputedValue
from benchforge.results.verify.recompute.kept_suite import KeptSuite, kept_suite
from benchforge.run.ceiling.null_server import load_of
from benchforge.suite.scenarios.search import rated


@dataclass(frozen=True)
class KeptTrial:
    """A trial: a file of its own, or inside of a ceiling's."""

    file: Parsed[Any]
    trial: Trial
    at: JsonPath = ()
    "Path of the trial in the file."

    def again(
        self, *path: str | int, value: JsonValue = None, cannot: str = ""
    ) -> "RecomputedValue":
        """Return a value of this trial, computed again, or why it cannot be."""
        return RecomputedValue(self.file, (*self.at, *path), value, cannot)

    def fault(self, message: str, *path: str | int) -> FileFault:
        """Return a fault of one value of this trial."""
        return self.file.fault(message, *self.at, *path)


@dataclass(frozen=True)
class Result:
    """A result as it was read; its suite says how, and is read when it is needed."""

    header: Parsed[Header]
    trials: tuple[Parsed[Trial], ...]
    "Trials by number."
    ceilings: tuple[Parsed[Ceiling], ...]
    sessions: tuple[Session, ...]
    summary: Parsed[Summary] | None
    registry: Registry
    ours: bool
    "True if this very version of benchforge wrote it."
    large: bool = False
    "True if its summary is compared line by line: `summary` is None then."

    @cached_property
    def suite(self) -> KeptSuite:
        """The suite that the header holds. Raises Unusable where it or a part cannot be had."""
        header = self.header
        return kept_suite(header.model, f"the suite in {header.file}", self.registry)

    @cached_property
    def summed_up(self) -> SummedUp:
        """What the summary sums up; all there is where there is no summary.

        Raises what `lines` raises, where the summary is large.
        """
        if self.summary is not None:
            return self._after(len(self.summary.model.sessions))
        return self._after(self.lines[0] if self.large else len(self.sessions))

    @cached_property
    def lines(self) -> tuple[int, ComparedLines]:
        """Of a large summary: how many sessions it sums up, and what came of its lines.

        Raises OSError, and what a metric of a plugin raises.
        """
        folder = self.header.file.parent
        return compared_after(folder, len(self.sessions), self._concluded_after)

    @cached_property
    def concluded(self) -> Summary:
        """The summary, computed again. Raises what a metric of a plugin raises, too."""
        return self._concluded_after(len(self.summed_up.sessions))

    @cached_property
    def _by_sessions(self) -> dict[int, Summary]:
        """Summaries that were computed again: for thousands of trials that takes seconds."""
        return {}

    def _concluded_after(self, sessions: int) -> Summary:
        if sessions not in self._by_sessions:
            sessions_after, header = self._after(sessions), self.header.model
            metrics = installed_metrics(header, self.header.file.parent, self.registry)
            again = concluded(
                header,
                sessions_after.trials,
                metrics,
                sessions_after.sessions,
                sessions_after.ceilings,
            )
            self._by_sessions[sessions] = again
        return self._by_sessions[sessions]

    def _after(self, sessions: int) -> SummedUp:
        trials = [trial.model for trial in self.trials]
        return summed_up(
            sessions, self.sessions, trials, [ceiling.model for ceiling in self.ceilings]
        )

    @property
    def measured(self) -> Iterator[KeptTrial]:
        """All that was measured: the trials, and what load tools did against the null server."""
        yield from (KeptTrial(trial, trial.model) for trial in self.trials)
        yield from (
            KeptTrial(ceiling, ceiling.model.trial, ("trial",)) for ceiling in self.ceilings
        )

    def driver(self, stored: KeptTrial) -> Driver:
        """Return what made the load. Raises Unusable where the suite has no such driver."""
        driver = self.suite.driver(stored.trial.case)
        if stored.trial.search_outcome is not None:
            driver = rated(driver, stored.trial.search_outcome.rate, stored.trial.block)
        model = stored.file.model
        return load_of(driver, 0, model.shares) if isinstance(model, Ceiling) else driver


Recomputation = Callable[[Result], Iterator[RecomputedValue | ComparedLines | FileFault]]
"Yields what is to be compared, and what is wrong by itself."
