"""The exit codes, from the errors that have them."""

from collections.abc import Iterator

from benchforge import errors
from docs.generate.text import first_line, page_of, plain, table


def page() -> str:
    """Return the page."""
    told: dict[int, list[str]] = {}
    for error in _errors():
        told.setdefault(error.exit_code, []).append(first_line(error))
    told[1].append(plain("A claim fails; with --inconclusive-fails, or is inconclusive."))
    told[4].append(plain("A claim is invalid; this comes before 1."))
    rows = [(f"{code}", " ".join(told[code])) for code in sorted(told)]
    return page_of(
        "Exit codes",
        table(
            ("code", "when"),
            [
                ("0", plain("Everything that was asked has an answer.")),
                *rows,
                ("130", plain("Ctrl-C: what was measured is kept.")),
                ("143", plain("TERM: what was measured is kept.")),
                ("129", plain("The terminal is gone: what was measured is kept.")),
            ],
        ),
        "An error is one line, `error: where: what`, and below it `hint: what to do`. Errors of a "
        "suite are told all at once, each with its file, line and column; nothing is started then.",
        "A server that answers wrongly or slowly is a finding and no error of benchforge: its "
        "failed trials stand in the report, and 4 is given only where a case has no trial, or none "
        "that is believed for a reason that does not come and go. Noise does: numbers that it "
        "alone spoiled are marked NOT BELIEVED, and a run with them ends with 0.",
    )


def _errors() -> Iterator[type[errors.BenchforgeError]]:
    for thing in vars(errors).values():
        if (
            isinstance(thing, type)
            and issubclass(thing, errors.BenchforgeError)
            and thing is not errors.BenchforgeError
        ):
            yield thing
