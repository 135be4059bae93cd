"""Definition of a good response of a load, by the suite and by answers to single requests."""

from collections.abc import Sequence

from pydantic import NonNegativeInt

from benchforge.model.trial.answers.answer import (
    Answer,
    Expect,
    Lengths,
    Request,
    Statuses,
    either,
    statuses_of,
)
from benchforge.model.trial.answers.monitor import Probes
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact


class GoodResponse(Frozen):
    """Status and length of the body of a good response."""

    status: Statuses
    "HTTP status, or several."
    shortest: NonNegativeInt
    "Minimum length of the body in bytes."
    longest: NonNegativeInt | None
    "Maximum length of the body in bytes; None: no limit."
    binding: bool
    """True if a response of another length is wrong; false if only their mean must be within the
    limits, because the answers of probes differ in length, or because of `doubt`."""
    doubt: str = ""
    """Reason why equal lengths of all probes do not make another length wrong; empty without."""

    @property
    def statuses(self) -> tuple[int, ...]:
        """Right statuses."""
        return statuses_of(self.status)

    @property
    def either(self) -> str:
        """Right statuses in words."""
        return either(self.status)

    def fits(self, length: int) -> bool:
        """Return True if a body of this length may be right."""
        if not self.binding:
            return True
        return self.shortest <= length and (self.longest is None or length <= self.longest)

    @property
    def lengths(self) -> str:
        """Range of lengths in words."""
        if self.longest is None:
            return f"{exact(self.shortest)} bytes or more" if self.shortest else "any length"
        if self.shortest == self.longest:
            return f"{exact(self.shortest)} bytes"
        return f"{exact(self.shortest)} to {exact(self.longest)} bytes"


def right_of(
    expect: Expect, request: Request, answers: Sequence[Answer], probes: Probes | None
) -> GoodResponse:
    """Return what counts as right, once the server was asked on both sides of a load."""
    doubt = ""
    lengths: tuple[int, int | None, bool]
    match expect.length:
        case _ if request.method == "HEAD":  # tools tell the length that the head promises, or none
            lengths = 0, 0, False
        case int() as length:
            lengths = length, length, True
        case Lengths(min=least, max=most):
            lengths = least, most, True
        case "any":
            lengths = 0, None, True
        case None:
            answer_lengths = [answer.length for answer in answers]
            if probes is not None and probes.sizes is not None:
                answer_lengths += [probes.sizes.shortest_body, probes.sizes.longest_body]
            fixed = expect.same_body or expect.body is not None  # and so is its length
            doubt = "" if fixed else _doubt(request, answers, probes)
            lowest, highest = min(answer_lengths), max(answer_lengths)
            lengths = lowest, highest, lowest == highest and not doubt
    fields = dict(zip(("shortest", "longest", "binding"), lengths, strict=True))
    return GoodResponse.model_validate({"status": expect.status, "doubt": doubt, **fields})


def _doubt(request: Request, answers: Sequence[Answer], probes: Probes | None) -> str:
    """Return why equal lengths of single answers prove nothing of those between them."""
    if request.method == "POST":
        return "answers to POST may grow, such as an id"
    on_both_sides = len(answers) > 1 or (probes is not None and probes.before and probes.after)
    return "" if on_both_sides else "no single request after the load shows it"
