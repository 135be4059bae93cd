"""What of a load's responses counts as right: by the suite, and by answers to single questions."""

from collections.abc import Sequence

from pydantic import NonNegativeInt

from benchforge.model.trial.answers.answer import Answer, Expect, Lengths, Request
from benchforge.model.trial.answers.probes import Probes
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import exact


class GoodResponse(Frozen):
    """Status and length of the body of a good response."""

    status: int
    "HTTP status."
    shortest: NonNegativeInt
    "Minimum length of the body in bytes."
    longest: NonNegativeInt | None
    "Maximum length of the body in bytes; None: no limit."
    binding: bool
    """True if a response of another length is wrong; false if only their mean must be within the
    limits, because the answers of probes differ in length."""

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
    shortest, longest, binding = _lengths(expect, request, answers, probes)
    return GoodResponse(status=expect.status, shortest=shortest, longest=longest, binding=binding)


def _lengths(
    expect: Expect, request: Request, answers: Sequence[Answer], probes: Probes | None
) -> tuple[int, int | None, bool]:
    if request.method == "HEAD":
        return 0, 0, False  # tools tell the length that the head promises, or none
    match expect.length:
        case int() as length:
            return length, length, True
        case Lengths(min=least, max=most):
            return least, most, True
        case "any":
            return 0, None, True
        case None:
            pass
    seen = [answer.length for answer in answers]
    if probes is not None and probes.sizes is not None:
        seen += [probes.sizes.shortest_body, probes.sizes.longest_body]
    return min(seen), max(seen), min(seen) == max(seen)
