"""One question about a trial, a comparison or a session, and its answer."""

from typing import Literal

from benchforge.model.frozen import Frozen

Status = Literal["pass", "warn", "fail", "unknown"]


class Check(Frozen):
    """An answer with its value, threshold and source; `says` is one sentence with what to do.

    About behaviour: the server did that, and it is a finding. About the apparatus: the trial is
    not to be believed.
    """

    id: str
    scope: Literal["trial", "comparison", "session"]
    about: Literal["behaviour", "apparatus"]
    status: Status
    value: float | None = None
    threshold: str = ""
    source: str = ""
    says: str
