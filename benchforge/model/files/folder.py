"""A result's folder: its header and its trials."""

from collections.abc import Iterator
from glob import iglob
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from benchforge.errors import BenchforgeError, InvalidFile, Unusable
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import FileFault, Model, Parsed, parse
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
    checks: dict[tuple[object, ...], Check] = {}
    parts: dict[tuple[str, bytes], Any] = {}
    for name in steps(trial_files(folder), "trials"):
        parsed = parse(folder, name, Trial)
        if isinstance(parsed, Parsed):
            fields: dict[str, Any] = vars(parsed.model)
            shared = {k: _first((k, to_json(fields[k])), fields[k], parts) for k in _REPEATED}
            shared["checks"] = tuple([_first(_text(row), row, checks) for row in fields["checks"]])
            fields.update(dict.fromkeys(shared))  # these are compact already
            compact(parsed.model)
            fields.update(shared)  # equal values: it stays frozen
        yield parsed


def _first(key: Any, value: Any, firsts: dict[Any, Any]) -> Any:
    first = firsts.setdefault(key, value)
    if first is value and isinstance(value, Frozen):
        compact(value)
    return first


def _text(check: Check) -> tuple[object, ...]:
    """Return the values of a check; its number as text, since -0.0 equals 0.0."""
    return repr(check.value), *check.__dict__.values()


def trial_files(folder: Path) -> list[str]:
    """Return the name of each trial.json below a result, sorted by folder."""
    return _names(folder, f"{TRIALS}/*/{TRIAL}")


def read_sessions(folder: Path) -> tuple[Session, ...]:
    """Read the later sessions of a result, in their order. Raises as `read_header` does."""
    return tuple(_model(parse(folder, name, Session)) for name in session_files(folder))


def session_files(folder: Path) -> list[str]:
    """Return the name of each later session's file below a result, in their order."""
    return _names(folder, f"{SESSIONS}/*.json")


def read_ceilings(folder: Path) -> tuple[Ceiling, ...]:
    """Read what the load tools did against the null server. Raises as `read_header` does."""
    return tuple(_model(parse(folder, name, Ceiling)) for name in ceiling_files(folder))


def ceiling_files(folder: Path) -> list[str]:
    """Return the name of each ceiling.json below a result, sorted by folder."""
    return _names(folder, f"{CEILINGS}/*/{CEILING}")


def _names(folder: Path, pattern: str) -> list[str]:
    """Return the files and links of a pattern; `parse` refuses links."""
    return sorted(iglob(pattern, root_dir=folder, include_hidden=True))  # noqa: PTH207 - as text


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
