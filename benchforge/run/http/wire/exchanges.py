"""Requests with their answers, from what a packet socket got: pure, and without trust.

A request's acknowledgement says where its answer begins: a window may open in mid-connection.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from operator import itemgetter
from typing import NamedTuple

from benchforge.run.http.wire.message import HttpMessage, NotHttp, answer, begins, request
from benchforge.run.http.wire.packets import FIN, SYN, Segment, Side, segment

_TURN = 1 << 32  # sequence numbers begin again


class Packet(NamedTuple):
    """An IP packet, and when it was read, in seconds of the monotonic clock."""

    seconds: float
    content: bytes


class Exchange(NamedTuple):
    """A request with its answer: None if its end did not come; `understood` if it is HTTP/1."""

    request: HttpMessage
    answer: HttpMessage | None
    seconds: float
    understood: bool = True


class _Piece(NamedTuple):
    offset: int
    seconds: float
    payload: bytes
    acknowledged: int


class _Run:
    """Bytes of one direction without a gap, and the pieces that they came in."""

    def __init__(self, pieces: list[_Piece]) -> None:
        payloads = [piece.payload for piece in pieces]
        self.pieces, self.begin, self.content = pieces, pieces[0].offset, b"".join(payloads)
        self.ends = list(accumulate(map(len, payloads)))
        "Offset after each piece."

    def piece(self, offset: int) -> _Piece:
        """Return the piece with the byte at a offset."""
        return self.pieces[bisect_right(self.ends, offset)]

    def next_request(self, offset: int) -> int:
        """Return the offset of the first piece after this offset that begins as a request."""
        later = self.ends[bisect_right(self.ends, offset) : -1]
        return next((end for end in later if begins(self.content, end)), len(self.content))


@dataclass
class _Direction:
    """What one side sent, by sequence numbers that are relative to the first one."""

    first: int | None = None
    pieces: list[_Piece] = field(default_factory=list)
    closed: int | None = None
    "Offset at which it closed the connection."

    def offset(self, sequence: int) -> int:
        first = sequence if self.first is None else self.first
        return (sequence - first + _TURN // 2) % _TURN - _TURN // 2

    def add(self, sent: Segment, seconds: float) -> None:
        sequence = sent.sequence + bool(sent.flags & SYN)
        if self.first is None:
            self.first = sequence
        offset = self.offset(sequence)
        if sent.payload:
            self.pieces.append(_Piece(offset, seconds, sent.payload, sent.acknowledged))
        if sent.flags & FIN:
            self.closed = offset + len(sent.payload)

    def runs(self) -> list[_Run]:
        """Return what was sent, in order; what was sent twice counts as it came first."""
        runs: list[list[_Piece]] = []
        end = -_TURN
        for piece in sorted(self.pieces, key=itemgetter(0, 1)):
            if piece.offset + len(piece.payload) <= end:
                continue
            if piece.offset > end:
                runs.append([])
            cut = max(0, end - piece.offset)
            rest = piece._replace(offset=end, payload=piece.payload[cut:]) if cut else piece
            runs[-1].append(rest)
            end = piece.offset + len(piece.payload)
        return [_Run(pieces) for pieces in runs]


class _Request(NamedTuple):
    """A request, when its end was read, and where its answer begins at the earliest."""

    message: HttpMessage
    seconds: float
    acknowledged: int


def exchanges(packets: Iterable[Packet], port: int, until_s: float) -> list[Exchange]:
    """Return the requests to a port that began before a moment, with their answers."""
    connections: dict[tuple[Side, Side], tuple[_Direction, _Direction]] = {}
    for packet in packets:
        sent = segment(packet.content)
        if sent is None:
            continue
        of_client = sent.receiver[1] == port
        sides = (sent.sender, sent.receiver) if of_client else (sent.receiver, sent.sender)
        if sides not in connections:
            connections[sides] = _Direction(), _Direction()
        client, server = connections[sides]
        (client if of_client else server).add(sent, packet.seconds)
    pairs = connections.values()
    each = (_paired([*_requests(client, until_s)], server) for client, server in pairs)
    return list(chain.from_iterable(each))


def _requests(client: _Direction, until_s: float) -> Iterator[_Request]:
    """Yield the requests that began before a moment; a window may open in the midst of one."""
    for run in client.runs():
        offset, end = 0, len(run.content)
        while offset < end and (piece := run.piece(offset)).seconds < until_s:
            try:
                message = request(run.content, offset)
            except NotHttp:
                offset = run.next_request(offset)
                continue
            seconds = run.piece(message.end - 1).seconds if message.end else math.inf
            yield _Request(message, seconds, piece.acknowledged)
            offset = message.end or run.next_request(offset)


def _paired(requests: Sequence[_Request], server: _Direction) -> Iterator[Exchange]:
    """Yield requests with their answers.

    Whose answer is whose is unknown where different requests are pipelined from before the window.
    """
    runs, end = server.runs(), -_TURN
    begins_at = [run.begin for run in runs]
    pairs: list[Exchange] = []
    pipelined = False
    for sent in requests:
        offset = server.offset(sent.acknowledged)
        pipelined = pipelined or offset < end
        offset = max(offset, end)
        reply, seconds, understood = None, 0.0, True
        run = runs[max(0, bisect_right(begins_at, offset) - 1)] if runs else None
        inside = run is not None and run.begin <= offset < run.begin + len(run.content)
        if run is not None and inside and sent.message.end:
            closed = None if server.closed is None else server.closed - run.begin
            try:
                start, method = offset - run.begin, sent.message.method
                reply = answer(run.content, start, method, closed)
            except NotHttp:
                understood = False
            if reply is not None:
                end = run.begin + reply.end
                seconds = max(0.0, run.piece(reply.end - 1).seconds - sent.seconds)
        pairs.append(Exchange(sent.message, reply, seconds, understood))
        if reply is None:
            end = offset + 1  # an answer is looked for once; the next one begins later
    requests_ = (pair.request for pair in pairs)
    alike = len({(sent.method, sent.target, sent.body) for sent in requests_}) <= 1
    for pair in pairs:
        yield pair if alike or not pipelined else pair._replace(answer=None, understood=False)
