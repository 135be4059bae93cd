"""The stream of a mix, as a trial sent it."""

import math

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import Probes
from benchforge.model.values.frozen import Frozen


class StreamKind(Frozen):
    """One kind of the requests of a mix."""

    share: PositiveInt
    "Declared share of the requests."
    records: NonNegativeInt
    "Number of the stream's records of this kind."
    request: Request
    """Request that the probes of this kind sent: the same in each run. In a later step of a flow, \
`{name}` stands for what an answer gave."""
    after: str | None = None
    "Label of the step before it in a flow; None for all other requests."
    think_s: NonNegativeFloat | None = None
    "Pause between the answer before it and this step of a flow; None: that of the load tool."
    probes: Probes | None = None
    "Answers to the probes; None if the trial ended before."
    good_response: GoodResponse | None = None
    "Definition of a good response of this kind; None if the trial ended before."


class Stream(Frozen):
    """Requests of a mix, rendered before the load from the suite, the seed and the block."""

    records: PositiveInt
    "Number of records. A load that takes more begins again."
    sha256: str
    "SHA-256 of the records, without secrets and without the header Host."
    kinds: dict[str, StreamKind]
    "Kinds by label, in the order of the suite."

    @property
    def deck(self) -> int:
        """Number of records after which each kind has had its share, and deals begin anew."""
        shares = [kind.share for kind in self.kinds.values() if kind.after is None]
        return sum(shares) // math.gcd(*shares)
