"""A result's folder: its header and its trials."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import iglob
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import to_json

from benchforge.errors import BenchforgeError, InvalidFile, Unusable
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import FileFault, Model, Parsed, parse, parse_as_written
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.check import Check
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.frozen import Frozen, compact
from benchforge.text.program import program
from benchforge.text.steps import steps

HEADER = "result.json"
SUMMARY = "summary.json"
MANIFEST = "manifest.json"
SIGNED = "signed.json"
"The manifest as it was when somebody signed it."
SIGNATURE = f"{SIGNED}.sig"
SESSIONS = "sessions"
CEILINGS = "ceilings"
CEILING = "ceiling.json"
TRIALS = "trials"
RUNTIMES = "runtimes"
TRIAL = "trial.json"
ANSWER = "answer.bin"
_PATTERNS: Mapping[type[Frozen], str] = {
    Trial: f"{TRIALS}/*/{TRIAL}",
    Session: f"{SESSIONS}/*.json",
    Ceiling: f"{CEILINGS}/*/{CEILING}",
}
_BATCH = 200
_MANY = 1000  # trials: fewer are read before a second process helps
_File = TypeVar("_File", Parsed[Trial], Parsed[Trial] | None, Parsed[Trial] | list[FileFault])
_REPEATED = (
    *("case", "encryption", "files", "good_response", "listener", "load", "namespaces"),
    *("placement", "request", "workers", "workers_declared"),
)


def read_header(folder: Path) -> Header:
    """Read the header of a result. Raises Unusable if it is unreadable, InvalidFile if invalid."""
    return _model(parse_header(folder))


def parse_header(folder: Path) -> Parsed[Header] | list[FileFault]:
    """Return the header of a result, or what is wrong with it. Equal cases are one object."""
    parsed = parse(folder, HEADER, Header)
    if isinstance(parsed, Parsed):
        header, cases = compact(parsed.model), dict[str, CaseName]()
        plan = [
            step.like(case=cases.setdefault(step.case.model_dump_json(), step.case))
            for step in header.plan
        ]
        vars(header).update(plan=tuple(plan))  # equal values: it stays frozen
    return parsed


def read_summary(folder: Path) -> Summary:
    """Read the summary of a result. Raises as `read_header` does."""
    return _model(parse(folder, SUMMARY, Summary))


def read_trials(folder: Path) -> tuple[Trial, ...]:
    """Read all trials of a folder, by number; none if it has none. Raises as `read_header` does."""
    trials = [_model(parsed) for parsed in parse_trials(folder)]
    return tuple(sorted(trials, key=lambda trial: trial.number))


def parse_trials(folder: Path) -> Iterator[Parsed[Trial] | list[FileFault]]:
    """Yield each trial of a result, or what is wrong with its file, sorted by folder.

    Equal checks, half of what trials take, are one object, and so are equal values of a suite.
    """
    names, firsts = files_of(folder, Trial), _Firsts()
    second = _by_second_process(folder, names) if len(names) >= _MANY else iter(())
    for number, name in enumerate(steps(names, "trials")):
        parsed = next(second, None) if number // _BATCH % 2 else None
        yield parsed or firsts.shared(parse(folder, name, Trial))


def _by_second_process(folder: Path, names: Sequence[str]) -> Iterator[Parsed[Trial] | None]:
    """Return the trials of every other batch; None for one that is not as benchforge writes it."""
    from benchforge.model.values.forked import forked  # noqa: PLC0415 - few results are so large

    batches = [names[first : first + _BATCH] for first in range(_BATCH, len(names), 2 * _BATCH)]
    firsts = _Firsts()
    parsed = (
        [firsts.shared(parse_as_written(folder, name, Trial)) for name in batch]
        for batch in batches
    )
    return chain.from_iterable(forked(lambda: parsed))


@dataclass(frozen=True)
class _Firsts:
    """The first of equal parts of trials."""

    checks: dict[tuple[object, ...], Check] = field(default_factory=dict)
    parts: dict[tuple[str, bytes], Any] = field(default_factory=dict)

    def shared(self, parsed: _File) -> _File:
        """Let a new trial share its parts, and return its file."""
        if isinstance(parsed, Parsed):
            fields: dict[str, Any] = vars(parsed.model)
            shared = {k: _first((k, to_json(fields[k])), fields[k], self.parts) for k in _REPEATED}
            shared["checks"] = tuple(
                _first(_text(row), row, self.checks) for row in fields["checks"]
            )
            fields.update(dict.fromkeys(shared))  # these are compact already
            compact(parsed.model)
            fields.update(shared)  # equal values: it stays frozen
        return parsed


def _first(key: Any, value: Any, firsts: dict[Any, Any]) -> Any:
    first = firsts.setdefault(key, value)
    if first is value and isinstance(value, Frozen):
        compact(value)
    return first


def _text(check: Check) -> tuple[object, ...]:
    """Return the values of a check; its number as text, since -0.0 equals 0.0."""
    return repr(check.value), *check.__dict__.values()


def files_of(folder: Path, model: type[Frozen]) -> list[str]:
    """Return the names of a result's trials, later sessions or ceilings, sorted by folder.

    Links are among them, which `parse` refuses. A glob of paths would take longer.
    """
    return sorted(iglob(_PATTERNS[model], root_dir=folder, include_hidden=True))  # noqa: PTH207


def read_sessions(folder: Path) -> tuple[Session, ...]:
    """Read the later sessions of a result, in their order. Raises as `read_header` does."""
    return tuple(_model(parse(folder, name, Session)) for name in files_of(folder, Session))


def read_ceilings(folder: Path) -> tuple[Ceiling, ...]:
    """Read what the load tools did against the null server. Raises as `read_header` does."""
    return tuple(_model(parse(folder, name, Ceiling)) for name in files_of(folder, Ceiling))


def accepted(parsed: Parsed[Model] | list[FileFault]) -> Parsed[Model]:
    """Return a file that could be parsed. Raises the first of its faults as `refusal` does."""
    if isinstance(parsed, Parsed):
        return parsed
    raise refusal(parsed[0])


def _model(parsed: Parsed[Model] | list[FileFault]) -> Model:
    return accepted(parsed).model


def refusal(fault: FileFault) -> BenchforgeError:
    """Return the error that a fault of a result's file is."""
    if fault.kind == "invalid":
        return InvalidFile(str(fault), f"`{program()} validate` lists all faults")
    return Unusable(str(fault), hint_of(fault))


def hint_of(fault: FileFault) -> str:
    """Return what to do about a folder that is not a result; "" for all else."""
    missing = fault.file.name == HEADER and not fault.file.exists()
    return f"name the folder of a result: it contains {HEADER}" if missing else ""
