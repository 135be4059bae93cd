"""A result as it was read, and its values computed again."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from benchforge.checks.summary import concluded
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.files.folder import refusal
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.distribution import own_version
from benchforge.model.values.places import JsonPath
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry
from benchforge.results.conclude import installed_metrics
from benchforge.results.recomputed.large_summary import ComparedLines, compared_after
from benchforge.results.recomputed.verified import Recomputed
from benchforge.results.validity.faults import FolderFiles
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

    def again(self, *path: str | int, value: JsonValue = None, cannot: str = "") -> Recomputed:
        """Return a value of this trial, computed again, or why it cannot be."""
        return Recomputed(self.file, (*self.at, *path), value, cannot)

    def fault(self, message: str, *path: str | int) -> FileFault:
        """Return a fault of one value of this trial."""
        return self.file.fault(message, *self.at, *path)


@dataclass(frozen=True)
class SummedUp:
    """What a summary sums up: sessions, trials and ceilings up to the last session that ended."""

    sessions: tuple[Session, ...]
    trials: tuple[Trial, ...]
    ceilings: tuple[Ceiling, ...]
    later: tuple[Trial, ...]
    "Trials of a session that was killed: it wrote no summary."


class Result:
    """A result as it was read; its suite says how, and is read when it is needed."""

    def __init__(self, files: FolderFiles, registry: Registry, *, large: bool) -> None:
        """Raises what the first fault is of what is not read."""
        if files.unread or files.header is None:
            raise refusal(files.unread[0])
        version = files.header.model.benchforge
        self.header, self.summary, self.registry = files.header, files.summary, registry
        self.trials, self.ceilings = tuple(files.trials), tuple(files.ceilings)
        self.sessions = tuple(session.model for session in files.sessions)
        self.other = "" if own_version() == version else version
        "The version of benchforge that wrote it; empty for this very one."
        self.large = large
        "True if its summary is compared line by line: `summary` is None then."

    @cached_property
    def suite(self) -> KeptSuite:
        """The suite that the header holds. Raises Unusable where it or a part cannot be had."""
        header = self.header
        return kept_suite(header.model, f"the suite in {header.file}", self.registry)

    @cached_property
    def summed_up(self) -> SummedUp:
        """What the summary sums up, or all there is without one. Raises as `lines`."""
        if self.summary is not None:
            return self._after(len(self.summary.model.sessions))
        return self._after(self.lines[0] if self.large else len(self.sessions))

    @cached_property
    def lines(self) -> tuple[int, ComparedLines]:
        """Of a large summary: number of sessions that it sums up, and its lines. Raises OSError."""
        return compared_after(self.header.file.parent, len(self.sessions), self._concluded_after)

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
            sums, header = self._after(sessions), self.header.model
            metrics = installed_metrics(header, self.header.file.parent, self.registry)
            self._by_sessions[sessions] = concluded(
                header, sums.trials, metrics, sums.sessions, sums.ceilings
            )
        return self._by_sessions[sessions]

    def _after(self, count: int) -> SummedUp:
        """Return the state when a summary was written that names this number of sessions."""
        trials = tuple(trial.model for trial in self.trials)
        ceilings = tuple(ceiling.model for ceiling in self.ceilings)
        if count >= len(self.sessions):
            return SummedUp(self.sessions, trials, ceilings, ())
        following = self.sessions[count]
        return SummedUp(
            self.sessions[:count],
            tuple(trial for trial in trials if trial.number < following.first_trial),
            tuple(each for each in ceilings if each.trial.started < following.started),
            tuple(trial for trial in trials if trial.number >= following.first_trial),
        )

    def shares(self, count: int) -> list["Result"]:
        """Return the result divided by its trials; the last share has the ceilings."""
        size = max(1, -(-len(self.trials) // count))
        shares: list[Result] = [copy(self) for _ in range(0, len(self.trials), size)] or [self]
        for number, share in enumerate(shares):  # copies: what was read of the suite stays
            ceilings = self.ceilings if share is shares[-1] else ()
            trials = self.trials[number * size : (number + 1) * size]
            share.trials, share.ceilings = trials, ceilings
        return shares

    def again(self, *path: str | int, value: JsonValue = None, cannot: str = "") -> Recomputed:
        """Return a value of the header, computed again, or why it cannot be."""
        return Recomputed(self.header, path, value, cannot)

    @property
    def measured(self) -> Iterator[KeptTrial]:
        """All that was measured: the trials, and what load tools did against the null server."""
        yield from (KeptTrial(trial, trial.model) for trial in self.trials)
        yield from (KeptTrial(each, each.model.trial, ("trial",)) for each in self.ceilings)

    def driver(self, stored: KeptTrial) -> Driver:
        """Return what made the load. Raises Unusable where the suite has no such driver."""
        driver = self.suite.driver(stored.trial.case)
        if stored.trial.search_outcome is not None:
            driver = rated(driver, stored.trial.search_outcome.rate, stored.trial.block)
        model = stored.file.model
        return load_of(driver, 0, model.shares) if isinstance(model, Ceiling) else driver


Recomputation = Callable[[Result], Iterator[Recomputed | ComparedLines | FileFault]]
"Yields what is to be compared, and what is wrong by itself."
