"""The exit codes, from the errors that have them."""

from collections.abc import Iterator

from benchforge import errors
from benchforge.cli.console.reported import EXIT_CODES
from benchforge.cli.measure.gate.verdict import STATES
from benchforge.model.summary.verdict import ComparisonState
from docs.generate.text import page_of, plain, table

_WHEN = {
    1: "A claim fails, or is inconclusive with `--inconclusive-fails`. A metric is worse than "
    "before (`compare`). A server is slower than at the base, or answers wrongly (`gate`). A file "
    "of a result is invalid, or contradicted by others (`verify`).",
    2: "The suite, the command line or a file cannot be used. A result is not proved (`verify`).",
    3: "A program or a package that the suite needs is missing.",
    4: "A case has no believable value, a search has no answer, or a claim is invalid. A "
    "comparison is broken or not comparable (`run`, `duel`). A server is broken (`compare`). This "
    "code takes precedence over 1. A verdict is undecided or invalid, and none is slower or broken "
    "(`gate`). Another process measures, and you gave `--no-wait`. Memory or file descriptors ran "
    "out.",
    5: "The results cannot be written.",
}
"When a command ends with the code of an error."


def page() -> str:
    """Return the page. Raises KeyError for the code of an error that has no line here."""
    codes = sorted({error.exit_code for error in _errors()})
    return page_of(
        "Exit codes",
        table(
            ("code", "when"),
            [
                ("0", "The command did what it says, and nothing failed."),
                *((f"{code}", plain(_WHEN[code])) for code in codes),
                ("129", "The terminal was closed (HUP). Finished trials are kept."),
                ("130", "Ctrl-C interrupted the command. Finished trials are kept."),
                ("143", "TERM interrupted the command. Finished trials are kept."),
            ],
        ),
        "## Verdicts on comparisons",
        "Each comparison has one verdict. The terminal, the page, claims, exit codes, "
        "`summary.json`, JUnit's XML and GitHub's summary all show this verdict.",
        table(("state", "reason", "`run`, `duel`", "you may quote"), [*_states()]),
        "A gate compares each server with itself at the base.",
        table(("state", "reason", "`gate`"), [*_of_gate()]),
        "`report` shows these states, and exits with 0.",
        "## Levels of `verify`",
        "`validate` is the level `form`. A level includes those above it. At each level, 1 means "
        "that something differs, and takes precedence over 2.",
        table(("level", "0: proved", "1: contradicted", "2: not proved"), _LEVELS),
        "An error is one line, `error: where: what`, followed by `hint: what to do`. benchforge "
        "reports all errors of a suite at once, each with its file, line and column, and then "
        "starts nothing.",
        "A wrong or slow server is a finding, not an error of benchforge. The report shows its "
        "failed trials. The exit code is also 4 if a case has no trial, or no trial that can be "
        "believed, for a lasting reason. Noise is not lasting: numbers that only noise spoiled are "
        "marked NOT BELIEVED or DISTURBED, and the run exits with 0. A search is different: "
        "without an answer, `run` exits with 4, also if the reason is noise.",
    )


_LEVELS = (
    (
        "`form`",
        "The files agree, each with itself, with the others and with the manifest.",
        "A file is invalid, or not as the run left it.",
        "A file cannot be read.",
    ),
    (
        "`numbers`",
        "The summary and the reports follow from the trials.",
        "A number or a line differs.",
        (
            "A number cannot be recomputed. The manifest is missing. A file was signed, and is not "
            "as it was; or it was not signed, and others were."
        ),
    ),
    (
        "`evidence`",
        "The trials follow from the raw files. With `--signers`: a signer signed them.",
        "A number differs, or the signature is of other files.",
        "A raw file is missing, or the signer is unknown.",
    ),
)
_REASONS: dict[ComparisonState, str] = {
    "decided": "The servers differ, or any difference is below 10 %. Of a server alone: it has a "
    "value.",
    "undecided": "The intervals allow both answers, or there are too few blocks.",
    "not comparable": "The servers did different work, a lasting fault of the load tool or the "
    "machine spoiled the numbers, or fewer than two servers have a number.",
    "broken": "A server answered wrongly, or ended: a trial failed by its answer, or E1, E3, E6 "
    "or E7 failed in a trial.",
}
_QUOTED: dict[ComparisonState, str] = {
    "decided": "The ratio. Requests/s and times, unless noise spoiled them or servers took turns.",
    "undecided": "Only the pairs that are named. Requests/s and times, as above.",
    "not comparable": "No ratio. Requests/s and times only if each server did the work that the "
    "suite asks for.",
    "broken": "Nothing.",
}
_GATES = {
    "broken": "The working tree answered wrongly, and maybe the base, too. No waiver allows it.",
    "slower": "The working tree is slower for sure, and maybe by more than the limit.",
    "invalid": "The numbers cannot be used: a side has none, or a lasting fault spoiled them.",
    "undecided": "The interval allows both answers.",
    "base broken": "The base alone answered wrongly. The speed is not compared.",
    "not slower": "A loss of the limit is excluded.",
}


def _states() -> Iterator[tuple[str, ...]]:
    for state, reason in _REASONS.items():
        yield state, reason, str(EXIT_CODES[state]), _QUOTED[state]


def _of_gate() -> Iterator[tuple[str, ...]]:
    for state, shown in STATES.items():
        yield state, _GATES[state], str(shown.exit_code)


def _errors() -> Iterator[type[errors.BenchforgeError]]:
    for thing in vars(errors).values():
        if (
            isinstance(thing, type)
            and issubclass(thing, errors.BenchforgeError)
            and thing is not errors.BenchforgeError
        ):
            yield thing
