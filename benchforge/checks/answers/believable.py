"""Readings that cannot be true, such as a load without a good response."""

from benchforge.errors import ServerBroken
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.reading import Reading
from benchforge.model.values.case_name import CaseName
from benchforge.text.readable import amount, exact, listed

_SHOWN = 4


def believable(reading: Reading, case: CaseName, right: GoodResponse | None) -> None:
    """Raise ServerBroken when the tool got no good answer, or other bodies than are right."""
    if reading.responses == 0:
        classes = ", ".join(f"{count} {name}" for name, count in reading.errors.items() if count)
        raise ServerBroken(
            "drive",
            f"{case.server}: no response was completed in {amount('s', reading.seconds)} "
            f"(errors: {classes or 'none'})",
            "the server answers single requests, but none of the load's; see both logs",
        )
    if reading.good_at_most == 0:
        wanted = "" if right is None else f", expected were {right.either} and {right.lengths}"
        raise ServerBroken(
            "drive",
            f"{case.server}: none of {exact(reading.responses)} responses was "
            f"good: {_got(reading)}{wanted}",
            "the server answers single requests rightly, but none of the load's; see both logs",
        )
    length = reading.document_bytes
    if length is not None and right and not reading.bodies and not right.fits(length):
        raise ServerBroken(
            "read",
            f"{case.server}: {case.driver} was answered with {length} bytes of body, "
            f"right are {right.lengths}",
            "the server answers this tool differently; if bodies may differ in length, set "
            "`expect.length`",
        )


def _got(reading: Reading) -> str:
    if reading.bodies:
        return ", ".join(
            f"{exact(body.responses)} of status {body.status} with {exact(body.length)} bytes"
            for body in reading.bodies[:_SHOWN]
        )
    statuses = [f"{exact(n)} of status {key}" for key, n in reading.statuses.items() if n]
    return listed(statuses, _SHOWN) if statuses else "of another status"
