"""A request, what came back, and what a right answer looks like."""

import json
from collections.abc import Collection
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt, model_validator

from benchforge.model.trial.answers import json_body
from benchforge.model.trial.answers.json_body import SEARCHED, Items, Pattern
from benchforge.model.values.bounds import bounded
from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import conjoined, exact

_SHOWN = 60
_PIECE = 1 << 16
_OK, _NO_CONTENT, _NOT_MODIFIED = 200, 204, 304

Statuses = PositiveInt | Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
"An HTTP status, or several."

# What every tool sends alike, byte by byte: beyond ASCII each has an encoding of its own, and a
# line end would begin another header.
_HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
_HeaderValue = Annotated[str, Field(pattern=r"^[\t -~]*$")]


class Request(Frozen):
    """Request of a scenario."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "GET"
    "HTTP method."
    path: str = Field(default="/", pattern=r"^/[!-~]*$")
    "Path with the query, as on the request line: in ASCII, with %C3%A4 for other characters."
    headers: dict[_HeaderName, _HeaderValue] = Field(default_factory=dict)
    "Names of headers, each with its value in ASCII. They are added to those of the load tool."
    body: str | None = None
    "Body as text, sent as UTF-8. Default: no body."

    @property
    def framed(self) -> Self:
        """The request as it is sent: POST, PUT and PATCH without a body have a length of 0.

        Source: RFC 9110, section 8.6. Some servers answer 411 without it.
        """
        framing = {name.lower() for name in self.headers} & {"content-length", "transfer-encoding"}
        if self.body is not None or self.method not in {"POST", "PUT", "PATCH"} or framing:
            return self
        return self.model_copy(update={"headers": {**self.headers, "Content-Length": "0"}})


class Decoded(Frozen):
    """A body without its Content-Encoding."""

    length: NonNegativeInt
    "Length in bytes."
    sha256: str
    "SHA-256."


class Answer(Frozen):
    """An answer to a request. A file next to trial.json has its body, decoded."""

    status: int
    "HTTP status."
    headers: dict[str, str]
    "Values of the headers by name in lower case. Repeated headers are joined by a comma."
    length: NonNegativeInt
    "Length of the body in bytes, as sent."
    sha256: str
    "SHA-256 of the body, as sent."
    decoded: Decoded | None = None
    "Body without its Content-Encoding; None if it has none, or cannot be decoded."
    undecoded: str = ""
    "Reason why the body cannot be decoded; empty if it can."
    seconds: float
    "Time from the start of the request to the end of the body."
    version: str = ""
    "HTTP version on the first line, such as HTTP/1.1; empty if unknown."
    header_bytes: NonNegativeInt | None = None
    """Length of the first line and all headers, with the empty line after them; over HTTP/2 of \
names and values before their compression, and 4 bytes a header; None: unknown."""
    wire_bytes: NonNegativeInt | None = None
    """Length of all received data, including the framing of chunks; over HTTP/2 the sum of \
`header_bytes` and body; None: unknown."""

    @property
    def content_sha256(self) -> str:
        """SHA-256 of the body, decoded where it can be."""
        return self.sha256 if self.decoded is None else self.decoded.sha256

    @property
    def sent(self) -> str:
        """Length of the body as sent, and its compression."""
        text = f"{exact(self.length)} bytes"
        if self.decoded is None:
            return text
        coding = self.headers.get("content-encoding", "")[:20]
        return f"{text} of {coding}, {exact(self.decoded.length)} decoded"


class Lengths(Frozen):
    """Range of lengths of a body, in bytes."""

    min: NonNegativeInt = 0
    "Minimum length."
    max: NonNegativeInt | None = None
    "Maximum length; None for no limit."

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max is not None and self.max < self.min:
            raise ValueError(f"max is {self.max}, less than min, which is {self.min}")
        return self


class Expect(Frozen):
    """Definition of a right answer. Only the keys that are set are checked."""

    status: Statuses = 200
    "HTTP status, or an array of several: `[200, 201]`."
    content_type: str | None = None
    "Content type. Parameters such as charset count only if they are given."
    body: str | None = None
    "Exact body, decoded."
    body_matches: Pattern | None = None
    """Regular expression of Python that is found in the decoded body. It has at most 500 \
characters, and is searched in the first 64 KiB, for 1 s of CPU time."""
    json_subset: JsonValue = Field(default=None, alias="json")
    """JSON that the answer contains. Objects may have more members; an array has these elements
    alone, or begins with them if `items` gives its length."""
    items: Items | None = None
    """Number of elements of the JSON array that the body is: `50`; or of arrays in an object, by \
their keys: `{ rows = 50 }`."""
    length: NonNegativeInt | Lengths | Literal["any"] | None = None
    """Length of the body in bytes, as sent: `18`; a range, `{ min = 9, max = 12 }`; or `"any"`. \
Default: the length of the answers before and after the load; any length if these differ, or, \
without `body` and `same_body`, if one of them is missing, or for POST."""
    same_body: bool = False
    "Identical bodies from all servers of the scenario."

    def conflict(self, methods: Collection[str]) -> str | None:
        """Return why no answer to requests of these methods has these `items`; None if one may."""
        if self.items is None:
            return None
        if "HEAD" in methods:
            return "`items` counts elements of a body, and an answer to HEAD has none"
        for status in statuses_of(self.status):
            if status < _OK or status in {_NO_CONTENT, _NOT_MODIFIED}:
                return f"`items` counts elements of a body, and status {status} has none"
        of_subset = "json_subset" in self.model_fields_set
        if of_subset and (reason := json_body.items_conflict(self.items, self.json_subset)):
            return reason
        reason = None if self.body is None else self.json_difference(self.body.encode())
        return reason and f"`body` is no answer with these `items`: {reason}"

    @property
    def reads_body(self) -> bool:
        """True if a right answer depends on the content of its body."""
        return bool(self.model_fields_set & {"body", "body_matches", "json_subset", "items"})

    def json_difference(self, body: bytes) -> str | None:
        """Return how the JSON of a body differs from the expected one; None where it does not."""
        of_subset = "json_subset" in self.model_fields_set
        if self.items is None and not of_subset:
            return None
        try:
            got = json.loads(bounded(body))
        except (ValueError, RecursionError) as error:
            return f"expected JSON, got {_excerpt(body, 0)} ({error})"
        if self.items is not None and (mismatch := json_body.items_difference(self.items, got)):
            return mismatch
        return json_body.subset_difference(self.json_subset, got, self.items) if of_subset else None


def statuses_of(status: Statuses) -> tuple[int, ...]:
    """Return the statuses of an answer that is right."""
    return (status,) if isinstance(status, int) else status


def either(status: Statuses) -> str:
    """Return right statuses in words, such as 200 or 201."""
    return conjoined(map(str, statuses_of(status)), "or")


def difference(expect: Expect, answer: Answer, body: bytes) -> str | None:
    """Return the fault of an answer in one line; None if it is right. `body` is decoded."""
    if answer.status not in statuses_of(expect.status):
        location = answer.headers.get("location")
        target = "" if location is None else f" (Location: {location})"
        expected = f"expected status {either(expect.status)}, got {answer.status}"
        text = " ".join(body[:_SHOWN].decode(errors="replace").split())
        return f"{expected}{target}" + (f": {text!r}" if text else "")
    got_type = answer.headers.get("content-type", "")
    if expect.content_type is not None and not _type_fits(expect.content_type, got_type):
        return f"expected content type {expect.content_type}, got {got_type or 'none'}"
    if mismatch := length_difference(expect.length, answer.length):
        return mismatch
    if not expect.reads_body:
        return None
    if answer.undecoded:
        return answer.undecoded
    mismatch = content_difference(expect, body)
    return f"{mismatch} ({answer.sent})" if mismatch and answer.decoded else mismatch


def content_difference(expect: Expect, body: bytes) -> str | None:
    """Return the fault of a decoded body's content in one line; None if it is right."""
    if expect.body is not None and (mismatch := body_difference(expect.body.encode(), body)):
        return mismatch
    if (pattern := expect.body_matches) is not None:
        try:
            if not json_body.matches(pattern, body):
                limit = f" in its first {exact(SEARCHED)} bytes" if len(body) > SEARCHED else ""
                return f"expected a body that matches {pattern!r}{limit}, got {_excerpt(body, 0)}"
        except TimeoutError as error:
            return f"body_matches {pattern!r}: {error}"
    return expect.json_difference(body)


def length_difference(expected: int | Lengths | Literal["any"] | None, length: int) -> str | None:
    """Return that a length is not the expected one; None where it may be."""
    match expected:
        case int() if length != expected:
            wanted = f"{expected} bytes"
        case Lengths(min=least, max=None) if length < least:
            wanted = f"{least} bytes or more"
        case Lengths(min=least, max=int() as most) if not least <= length <= most:
            wanted = f"{least} to {most} bytes"
        case _:
            return None
    return f"expected a body of {wanted}, got {length}"


def body_difference(expected: bytes, got: bytes) -> str | None:
    """Return the first difference of two bodies in one line; None if they are equal."""
    if expected == got:
        return None
    position = _first_difference(expected, got)
    right, wrong = excerpts(expected, got)
    return f"the body differs from byte {position} on: expected {right}, got {wrong}"


def excerpts(first: bytes, second: bytes) -> tuple[str, str]:
    """Return what stands in each of two bodies from where they begin to differ, with its length."""
    position = _first_difference(first, second)
    old, new = (f"{_excerpt(body, position)} ({len(body)} bytes)" for body in (first, second))
    return old, new


def _first_difference(body: bytes, other: bytes) -> int:
    """Return where two texts begin to differ; bodies may have tens of megabytes."""
    shorter = min(len(body), len(other))
    pieces = (
        start
        for start in range(0, shorter, _PIECE)
        if body[start : start + _PIECE] != other[start : start + _PIECE]
    )
    piece = next(pieces, shorter)
    end = min(piece + _PIECE, shorter)
    return next((index for index in range(piece, end) if body[index] != other[index]), end)


def _excerpt(body: bytes, position: int) -> str:
    if position >= len(body):
        return "its end"
    return repr(body[position : position + _SHOWN].decode(errors="replace"))


def _type_fits(expected: str, got: str) -> bool:
    if ";" not in expected:
        got = got.partition(";")[0]
    return got.strip().lower() == expected.strip().lower()
