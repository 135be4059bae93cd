"""The exit codes, from the errors that have them."""

from collections.abc import Iterator

from benchforge import errors
from docs.generate.text import page_of, plain, table

_WHEN = {
    1: "A claim fails, or is inconclusive with `--inconclusive-fails`. A metric is worse than "
    "before (`compare`). A server is slower than at the base (`gate`). A file of a result is "
    "invalid, or contradicted by others (`verify`).",
    2: "The suite, the command line or a file cannot be used. A result is not proved (`verify`).",
    3: "A program or a package that the suite needs is missing.",
    4: "A case has no believable value, a search has no answer, or a claim is invalid. The servers "
    "are not comparable, since they did different work (`duel`). This "
    "code takes precedence over 1. A verdict is undecided or invalid, and none is slower (`gate`).",
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
        "An error is one line, `error: where: what`, followed by `hint: what to do`. benchforge "
        "reports all errors of a suite at once, each with its file, line and column, and then "
        "starts nothing.",
        "A wrong or slow server is a finding, not an error of benchforge. The report shows its "
        "failed trials. The exit code is 4 only if a case has no trial, or no trial that can be "
        "believed, for a lasting reason. Noise is not lasting: numbers that only noise spoiled are "
        "marked NOT BELIEVED or DISTURBED, and the run exits with 0. A search is different: "
        "without an answer, `run` exits with 4, also if the reason is noise.",
    )


def _errors() -> Iterator[type[errors.BenchforgeError]]:
    for thing in vars(errors).values():
        if (
            isinstance(thing, type)
            and issubclass(thing, errors.BenchforgeError)
            and thing is not errors.BenchforgeError
        ):
            yield thing
