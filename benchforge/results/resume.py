"""Taking up a result whose run ended early: what is there, and whether it may go on here."""

import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchforge.errors import Unusable
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.folder import (
    HEADER,
    SUMMARY,
    read_ceilings,
    read_header,
    read_sessions,
    read_trials,
    refusal,
)
from benchforge.model.files.result import Header, Planned, changes
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import HIDDEN, Trial
from benchforge.model.values.places import dotted
from benchforge.results.validity.faults import faults
from benchforge.suite.plan import RunGraph
from benchforge.suite.secrets import redact, secrets_of_suite
from benchforge.suite.suite import Suite
from benchforge.suite.toml.source import read
from benchforge.text.readable import cut

# Another one of these is another machine, or the same set to run at another speed.
_ANEW = "begin a new result with it: benchforge run SUITE"
_SHOWN = 60
_NOTHING = object()


@dataclass(frozen=True)
class ResumableResult:
    """A result that can go on: everything in it is valid, and stands in its plan."""

    folder: Path
    header: Header
    trials: tuple[Trial, ...]
    sessions: tuple[Session, ...]
    ceilings: tuple[Ceiling, ...] = ()
    "Ceilings of its load tools."
    alone: tuple[int, ...] = ()
    """Numbers of trials that took turns with others which were not kept: a kill came between them.
    They count as never measured."""

    def suite_file(self, given: Path | None) -> Path:
        """Return the suite's file, as it was. Raises Unusable when it is gone or was changed."""
        if given is None and not self.header.suite_file:
            hint = "name the suite too: benchforge run SUITE --resume RESULT"
            raise Unusable(f"{self.folder}: it does not record the path of its suite", hint)
        path = Path(self.header.suite_file) if given is None else given
        if not path.exists():
            hint = f"if it was moved, name it before --resume; {HEADER} has its text"
            raise Unusable(f"{path}: the suite of {self.folder} is gone", hint)
        document = read(path)
        if hashlib.sha256(document.text.encode()).hexdigest() != self.header.suite_sha256:
            literal = [secret for _, secret in secrets_of_suite(document.tables)]
            what = changed(self.header.suite, redact(document.text, literal))
            raise Unusable(f"{path}: changed since {self.folder} was begun: {what}", _ANEW)
        return path

    def check_given(
        self, profile: str | None, settings: Sequence[tuple[str, str]], only: Sequence[str]
    ) -> None:
        """Raise Unusable for what is given anew and differs, or is missing and was secret."""
        if profile not in {None, self.header.profile}:
            began = f"--profile {self.header.profile}" if self.header.profile else "no profile"
            raise self._otherwise(f"--profile {profile}", began)
        unknown = set(only) - set(self.header.only or {one.scenario for one in self.header.cases})
        if unknown:
            raise self._otherwise(f"--only {min(unknown)}", "without that scenario")
        if settings:
            return
        for path, value in self.header.settings.items():
            if HIDDEN in value:
                hint = f"give all --set options again; {path} was secret, and is not kept"
                raise Unusable(f"{self.folder}: was begun with --set {path}={HIDDEN}", hint)

    def check_alike(self, suite: Suite) -> None:
        """Raise Unusable where the suite as it was asked for now is not what was begun."""
        then = self.header.settings
        now = {path: redact(value, suite.secrets) for path, value in suite.settings.items()}
        for path in [*then, *(path for path in now if path not in then)]:
            if then.get(path) != now.get(path):
                given = f"--set {path}={now[path]}" if path in now else f"no --set {path}"
                began = f"--set {path}={then[path]}" if path in then else f"no --set {path}"
                raise self._otherwise(given, began)
        if suite.only != self.header.only:
            only = " ".join(f"--only {one}" for one in suite.only)
            began = " ".join(f"--only {one}" for one in self.header.only) or "all scenarios"
            raise self._otherwise(only or "all scenarios", began)

    def _otherwise(self, given: str, began: str) -> Unusable:
        hint = "leave it out: benchforge uses the value of the result"
        return Unusable(f"{given}: {self.folder} was begun with {began}", hint)

    def check_plan(self, graph: RunGraph) -> None:
        """Raise Unusable where the same suite has other cases now: its code or data changed."""
        names = [case.name for case in graph.cases]
        planned = self.header.plan
        if len(planned) != len(graph):
            message = f"{len(planned)} measurements were planned, now there are {len(graph)}"
            raise Unusable(f"{self.folder}: {message}: the suite's cases changed", _ANEW)
        for then, step in zip(planned, graph.steps(), strict=True):
            now = names[step.number]
            if (then.case, then.seed) != (now, step.seed):
                what = "its code or data" if then.case.title == now.title else "the suite's cases"
                message = f"{self.folder}: {then.case.title}: {what} changed since it was begun"
                raise Unusable(message, _ANEW)

    def differs(self, now: Header) -> tuple[str, ...]:
        """Return what is another now than in the header: machine, benchforge, programs."""
        then = self.header
        differences = [
            *_differences({"benchforge": then.benchforge}, {"benchforge": now.benchforge})
        ]
        differences += changes(then.facts, now.facts)
        differences += _differences(then.versions, now.versions)
        differences += _differences(
            {f"runtime {label}": one.build for label, one in then.runtimes.items()},
            {f"runtime {label}": one.build for label, one in now.runtimes.items()},
        )
        differences += _differences(_code(then), _code(now))
        for label in then.runtimes.keys() & now.runtimes.keys():
            packages = then.runtimes[label].packages, now.runtimes[label].packages
            differences += (f"{label}: {one}" for one in _differences(*packages))
        return tuple(dict.fromkeys(differences))

    def going_on(self, now: Header, differs: tuple[str, ...]) -> "ResumableResult":
        """Return the result with a session more, the one that begins now."""
        session = Session(
            number=len(self.sessions) + 2,
            started=datetime.now(UTC),
            first_trial=max((trial.number for trial in self.trials), default=0) + 1,
            differences=differs,
            benchforge=now.benchforge,
            versions=now.versions,
            runtimes=now.runtimes,
            facts=now.facts,
        )
        return replace(self, sessions=(*self.sessions, session))


def begun(folder: Path) -> ResumableResult:
    """Read a result to go on with.

    Raises Unusable for what is no result or is newer than we, and InvalidFile, naming the file, for
    what `validate` would complain of; the summary is written anew.
    """
    header = read_header(folder)
    for fault in faults(folder):
        if fault.file.name != SUMMARY:
            raise refusal(fault)
    trials = read_trials(folder)
    alone = _alone(header, trials)
    whole = tuple(trial for trial in trials if trial.number not in alone)
    records = whole, read_sessions(folder), read_ceilings(folder)
    return ResumableResult(folder, header, *records, tuple(sorted(alone)))


def _alone(header: Header, trials: Sequence[Trial]) -> set[int]:
    """Return the numbers of trials in turns whose launch lacks another server's trial."""

    def launch(of: Trial | Planned) -> tuple[int, str]:
        return of.block, header.turns[of.case.scenario].group(of.case)

    joint = [one for one in trials if one.case.scenario in header.turns]
    members = Counter(launch(one) for one in header.plan if one.case.scenario in header.turns)
    kept = Counter((launch(one), one.attempt) for one in joint)
    return {one.number for one in joint if kept[launch(one), one.attempt] < members[launch(one)]}


def changed(then: str, now: str) -> str:
    """Return the first value that differs between two texts of TOML, with what it was and is."""
    try:
        first = next(differing(tomllib.loads(then), tomllib.loads(now), ()), None)
    except tomllib.TOMLDecodeError:  # a secret was taken out where it was no text
        return "its text is another"
    if first is None:
        return "a comment, the layout or a secret"
    path, old, new = first
    return change_in_words(path, old, new)


def change_in_words(path: tuple[str | int, ...], then: Any, now: Any) -> str:
    """Return in words that a value was this and is that."""
    return f"{dotted(path)} was {_shown(then)}, is {_shown(now)}"


def differing(
    then: Any, now: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Yield the path of each value of TOML that is another, what it was, and what it is."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in [*then, *(key for key in now if key not in then)]:
            yield from differing(then.get(key, _NOTHING), now.get(key, _NOTHING), (*path, key))
    elif then != now or type(then) is not type(now):
        yield path, then, now


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in [*then, *(name for name in now if name not in then)]:
        old, new = then.get(name, _NOTHING), now.get(name, _NOTHING)
        if old != new:
            yield f"{name} was {_shown(old)}, is {_shown(new)}"


def _code(header: Header) -> dict[str, str]:
    """Return what of a repository each server serves: a commit is part of its case already."""
    return {f"code of {one.server}": one.in_words for one in header.code if one.ref is None}


def _shown(value: Any) -> str:
    if value is _NOTHING:
        return "not there"
    text = "unknown" if value is None else repr(value) if isinstance(value, str) else str(value)
    return cut(text, _SHOWN)
