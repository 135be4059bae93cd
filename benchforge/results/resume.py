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
from benchforge.model.files.folder import HEADER, refusal
from benchforge.model.files.result import Header, Planned, changes
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.places import dotted
from benchforge.results.validity.faults import FolderFiles, contradictions
from benchforge.suite.plan import RunGraph
from benchforge.suite.secrets import redact, secrets_of_suite
from benchforge.suite.suite import Suite
from benchforge.suite.toml.source import read
from benchforge.text.readable import cut
from benchforge.text.safe import HIDDEN

# Another one of these is another machine, or the same set to run at another speed.
_ANEW = "begin a new result with it: benchforge run SUITE"
_SHOWN = 60
_NOTHING = object()


@dataclass(frozen=True)
class ResumableResult:
    """A result that can go on: all its files are valid, and fit its plan."""

    folder: Path
    header: Header
    trials: tuple[Trial, ...]
    sessions: tuple[Session, ...]
    ceilings: tuple[Ceiling, ...] = ()
    "Ceilings of its load tools."
    alone: tuple[int, ...] = ()
    "Numbers of trials in turns whose others were lost by a kill: they count as never measured."

    def suite_file(self, suite_file_: Path | None) -> Path:
        """Return the suite's file, as it was. Raises Unusable when it is gone or was changed."""
        if suite_file_ is None and not self.header.suite_file:
            hint = "name the suite too: benchforge run SUITE --resume RESULT"
            raise Unusable(f"{self.folder}: it does not record the path of its suite", hint)
        path = Path(self.header.suite_file) if suite_file_ is None else suite_file_
        if not path.exists():
            hint = f"if it was moved, name it before --resume; {HEADER} has its text"
            raise Unusable(f"{path}: the suite of {self.folder} is gone", hint)
        document = read(path)
        if hashlib.sha256(document.text.encode()).hexdigest() != self.header.suite_sha256:
            literal = [secret for _, secret in secrets_of_suite(document.tables)]
            change = changed(self.header.suite, redact(document.text, literal))
            raise Unusable(f"{path}: changed since {self.folder} was begun: {change}", _ANEW)
        return path

    def check_given(
        self, profile: str | None, settings: Sequence[tuple[str, str]], only: Sequence[str]
    ) -> None:
        """Raise Unusable for what is given anew and differs, or is missing and was secret."""
        if profile not in {None, self.header.profile}:
            began = f"--profile {self.header.profile}" if self.header.profile else "no profile"
            raise self._otherwise(f"--profile {profile}", began)
        unknown = set(only) - set(self.header.only or {case.scenario for case in self.header.cases})
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
        settings_now = {path: redact(text, suite.secrets) for path, text in suite.settings.items()}
        for (path, *_), *values in differing(then, settings_now, ()):
            began, setting = (
                f"no --set {path}" if value is _NOTHING else f"--set {path}={value}"
                for value in values
            )
            raise self._otherwise(setting, began)
        if suite.only != self.header.only:
            only = " ".join(f"--only {name}" for name in suite.only)
            began = " ".join(f"--only {name}" for name in self.header.only) or "all scenarios"
            raise self._otherwise(only or "all scenarios", began)

    def _otherwise(self, setting: str, began: str) -> Unusable:
        hint = "leave it out: benchforge uses the value of the result"
        return Unusable(f"{setting}: {self.folder} was begun with {began}", hint)

    def check_plan(self, graph: RunGraph) -> None:
        """Raise Unusable where the same suite has other cases now: its code or data changed."""
        names = [case.name for case in graph.cases]
        planned = self.header.plan
        if len(planned) != len(graph):
            message = f"{len(planned)} measurements were planned, now there are {len(graph)}"
            raise Unusable(f"{self.folder}: {message}: the suite's cases changed", _ANEW)
        for then, step in zip(planned, graph.steps(), strict=True):
            case_now = names[step.number]
            if (then.case, then.seed) != (case_now, step.seed):
                same = then.case.title == case_now.title
                subject = "its code or data" if same else "the suite's cases"
                message = f"{then.case.title}: {subject} changed since it was begun"
                raise Unusable(f"{self.folder}: {message}", _ANEW)

    def differs(self, new_header: Header) -> tuple[str, ...]:
        """Return what is another now than in the header: machine, benchforge, programs."""
        then = self.header
        headers = then, new_header
        differences = list(_differences(*({"benchforge": each.benchforge} for each in headers)))
        differences += changes(then.facts, new_header.facts)
        differences += _differences(then.versions, new_header.versions)
        builds = ({f"runtime {k}": r.build for k, r in each.runtimes.items()} for each in headers)
        differences += _differences(*builds)
        differences += _differences(*map(_code, headers))
        for label in then.runtimes.keys() & new_header.runtimes.keys():
            packages = (each.runtimes[label].packages for each in headers)
            differences += (f"{label}: {difference}" for difference in _differences(*packages))
        return tuple(dict.fromkeys(differences))

    def going_on(self, new_header: Header, differs: tuple[str, ...]) -> "ResumableResult":
        """Return the result with a session more, the one that begins now."""
        session = Session(
            number=len(self.sessions) + 2,
            started=datetime.now(UTC),
            first_trial=max((trial.number for trial in self.trials), default=0) + 1,
            differences=differs,
            benchforge=new_header.benchforge,
            versions=new_header.versions,
            runtimes=new_header.runtimes,
            facts=new_header.facts,
        )
        return replace(self, sessions=(*self.sessions, session))


def begun(folder: Path) -> ResumableResult:
    """Read a result to go on with.

    Raises Unusable without a result or for a newer one, InvalidFile for an invalid file.
    """
    files = FolderFiles(folder, with_summary=False)
    wrong = [*contradictions(files)]
    if wrong or files.header is None:
        raise refusal(wrong[0])
    header, trials = files.header.model, [trial.model for trial in files.trials]
    alone = _alone(header, trials)
    return ResumableResult(
        folder,
        header,
        trials=tuple(trial for trial in trials if trial.number not in alone),
        sessions=tuple(session.model for session in files.sessions),
        ceilings=tuple(ceiling.model for ceiling in files.ceilings),
        alone=tuple(sorted(alone)),
    )


def _alone(header: Header, trials: Sequence[Trial]) -> set[int]:
    """Return the numbers of trials in turns whose launch lacks another server's trial."""

    def launch(planned: Trial | Planned) -> tuple[int, str]:
        return planned.block, header.turns[planned.case.scenario].group(planned.case)

    joint = [trial for trial in trials if trial.case.scenario in header.turns]
    members = Counter(launch(step) for step in header.plan if step.case.scenario in header.turns)
    members_stored = Counter((launch(trial), trial.attempt) for trial in joint)
    return {
        trial.number
        for trial in joint
        if members_stored[launch(trial), trial.attempt] < members[launch(trial)]
    }


def changed(then: str, new_text: str) -> str:
    """Return the first value that differs between two texts of TOML, with what it was and is."""
    try:
        first = next(differing(tomllib.loads(then), tomllib.loads(new_text), ()), None)
    except tomllib.TOMLDecodeError:  # a secret was taken out where it was no text
        return "its text is another"
    return "a comment, the layout or a secret" if first is None else change_in_words(*first)


def change_in_words(path: tuple[str | int, ...], then: Any, newer: Any) -> str:
    """Return in words that a value was this and is that."""
    return f"{dotted(path)} was {_shown(then)}, is {_shown(newer)}"


def differing(
    then: Any, newer: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Yield the path of each value of TOML that is another, what it was, and what it is."""
    if isinstance(then, dict) and isinstance(newer, dict):
        for key in [*then, *(key for key in newer if key not in then)]:
            yield from differing(then.get(key, _NOTHING), newer.get(key, _NOTHING), (*path, key))
    elif then != newer or type(then) is not type(newer):
        yield path, then, newer


def _differences(then: Mapping[str, Any], new_table: Mapping[str, Any]) -> Iterator[str]:
    for (name, *_), old, new in differing(then, new_table, ()):
        yield f"{name} was {_shown(old)}, is {_shown(new)}"


def _code(header: Header) -> dict[str, str]:
    """Return what of a repository each server serves: a commit is part of its case already."""
    return {f"code of {code.server}": code.in_words for code in header.code if code.ref is None}


def _shown(value: Any) -> str:
    if value is _NOTHING:
        return "not there"
    text = "unknown" if value is None else repr(value) if isinstance(value, str) else str(value)
    return cut(text, _SHOWN)
