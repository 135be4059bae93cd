"""What is right for the requests of a mix that a load's connections carry."""

from dataclasses import replace

from benchforge.run.http.request import HttpProbe
from benchforge.run.http.wire.judged import Right, RightOf
from benchforge.run.http.wire.message import HttpMessage
from benchforge.suite.mix.recognized import Recognizer, SentRequest
from benchforge.suite.mix.stream import Mix


def right_of_kinds(mix: Mix, probe: HttpProbe) -> RightOf:
    """Return what is right for a request by the kind that it is of; its values say the rest."""
    kinds = Recognizer(mix)

    def right_of(message: HttpMessage) -> list[Right]:
        body = message.body.decode("utf-8", "replace")
        sent = SentRequest(message.method, message.target, message.headers, body)
        return [
            Right(label, None if expect is None else replace(probe, expect=expect, like=None))
            for label, expect in kinds.expects(sent)
        ]

    return right_of
