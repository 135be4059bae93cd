"""A result's folder: its header and its trials."""

from pathlib import Path

from benchforge.errors import BenchforgeError, InvalidFile, Unusable
from benchforge.model.ceiling import Ceiling
from benchforge.model.file import Fault, Model, Parsed, parse
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial

HEADER = "result.json"
SUMMARY = "summary.json"
SITTINGS = "sittings"
CEILINGS = "ceilings"
CEILING = "ceiling.json"


def read_header(folder: Path) -> Header:
    """Read the header of a result.

    Raises Unusable when it cannot be read, InvalidFile when it says what cannot be.
    """
    return _model(parse(folder / HEADER, Header))


def read_summary(folder: Path) -> Summary:
    """Read the summary of a result. Raises as `read_header` does."""
    return _model(parse(folder / SUMMARY, Summary))


def read_trials(folder: Path) -> tuple[Trial, ...]:
    """Read all trials of a result, by number: a trial exists when its trial.json does.

    Raises Unusable when one cannot be read, InvalidFile when one says what cannot be.
    """
    trials = [_model(parse(file, Trial)) for file in trial_files(folder)]
    return tuple(sorted(trials, key=lambda trial: trial.number))


def trial_files(folder: Path) -> list[Path]:
    """Return each trial.json of a result, sorted by folder."""
    return sorted(folder.glob("trials/*/trial.json"))


def read_sittings(folder: Path) -> tuple[Sitting, ...]:
    """Read the later sittings of a result, in their order. Raises as `read_trials` does."""
    return tuple(_model(parse(file, Sitting)) for file in sitting_files(folder))


def sitting_files(folder: Path) -> list[Path]:
    """Return the file of each later sitting of a result, in their order."""
    return sorted(folder.glob(f"{SITTINGS}/*.json"))


def read_ceilings(folder: Path) -> tuple[Ceiling, ...]:
    """Read what the load tools did against the null server. Raises as `read_trials` does."""
    return tuple(_model(parse(file, Ceiling)) for file in ceiling_files(folder))


def ceiling_files(folder: Path) -> list[Path]:
    """Return each ceiling.json of a result, sorted by folder."""
    return sorted(folder.glob(f"{CEILINGS}/*/{CEILING}"))


def _model(found: Parsed[Model] | list[Fault]) -> Model:
    if isinstance(found, Parsed):
        return found.model
    raise refusal(found[0])


def refusal(fault: Fault) -> BenchforgeError:
    """Return the error that a fault of a result's file is."""
    if fault.kind == "invalid":
        return InvalidFile(str(fault), "`benchforge validate` names everything that is wrong")
    missing = fault.file.name == HEADER and not fault.file.exists()
    return Unusable(
        str(fault), f"give the folder of a result: it holds {HEADER}" if missing else ""
    )
