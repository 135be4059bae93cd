"""A request, what came back, and what a right answer looks like."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, NonNegativeInt, PositiveInt

from benchforge.model.frozen import Frozen

_SHOWN = 60

# What every tool sends alike, byte by byte: beyond ASCII each has an encoding of its own, and a
# line end would begin another header.
_HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
_HeaderValue = Annotated[str, Field(pattern=r"^[\t -~]*$")]


class Request(Frozen):
    """What a scenario asks for."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "GET"
    "Of HTTP."
    path: str = Field(default="/", pattern=r"^/[!-~]*$")
    "With the query, as it stands on the request line: ASCII, and %C3%A4 for what is not."
    headers: dict[_HeaderName, _HeaderValue] = Field(default_factory=dict)
    "Names to values in ASCII, added to what the tool sends by itself."
    body: str | None = None
    "A text, sent as UTF-8; none without it."


class Answer(Frozen):
    """What came back. The body itself stands in a file beside the trial."""

    status: int
    "Of HTTP."
    headers: dict[str, str]
    "Names in lower case; repeated ones joined by a comma."
    length: NonNegativeInt
    "Of the body, in bytes."
    sha256: str
    "Of the body."
    seconds: float
    "From the question to the end of the body."
    version: str = ""
    "The version of HTTP on its first line, such as HTTP/1.1; empty in older results."
    header_bytes: NonNegativeInt | None = None
    "Of the first line and all headers, with the empty line behind them; None in older results."


class Expect(Frozen):
    """What a right answer looks like; what is not named is not looked at."""

    status: PositiveInt = 200
    "Of HTTP."
    content_type: str | None = None
    "Compared without parameters (charset) unless it names some."
    body: str | None = None
    "The exact body."
    json_subset: JsonValue = Field(default=None, alias="json")
    "JSON that the answer contains: objects may have more members, lists not."
    length: NonNegativeInt | None = None
    "Of the body, in bytes."
    same_body: bool = False
    "Whether all servers of the scenario answer the same bytes."


def difference(expect: Expect, answer: Answer, body: bytes) -> str | None:
    """What is wrong with an answer, in one line; None when it is right."""
    if answer.status != expect.status:
        return f"expected status {expect.status}, got {answer.status}{_told(body)}"
    got_type = answer.headers.get("content-type", "")
    if expect.content_type is not None and not _type_fits(expect.content_type, got_type):
        return f"expected content type {expect.content_type}, got {got_type or 'none'}"
    if expect.length is not None and len(body) != expect.length:
        return f"expected a body of {expect.length} bytes, got {len(body)}"
    if expect.body is not None and (told := body_difference(expect.body.encode(), body)):
        return told
    if "json_subset" in expect.model_fields_set:
        return _json_difference(expect.json_subset, body)
    return None


def body_difference(expected: bytes, got: bytes) -> str | None:
    """Where two bodies differ, in one line; None when they are the same."""
    if expected == got:
        return None
    shorter = min(len(expected), len(got))
    at = next((i for i in range(shorter) if expected[i] != got[i]), shorter)
    return (
        f"the body differs from byte {at} on: expected {_excerpt(expected, at)} "
        f"({len(expected)} bytes), got {_excerpt(got, at)} ({len(got)} bytes)"
    )


def _excerpt(body: bytes, at: int) -> str:
    if at >= len(body):
        return "its end"
    return repr(body[at : at + _SHOWN].decode(errors="replace"))


def _told(body: bytes) -> str:
    text = " ".join(body[:_SHOWN].decode(errors="replace").split())
    return f": {text!r}" if text else ""


def _type_fits(expected: str, got: str) -> bool:
    if ";" not in expected:
        got = got.partition(";")[0]
    return got.strip().lower() == expected.strip().lower()


def _json_difference(expected: JsonValue, body: bytes) -> str | None:
    try:
        got = json.loads(body)
    except ValueError as error:
        return f"expected JSON, got {_excerpt(body, 0)} ({error})"
    return _missing(expected, got, "$")


def _missing(expected: Any, got: Any, path: str) -> str | None:
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            if key not in got:
                return f"expected {path}.{key} in the JSON, it is not there"
            if told := _missing(value, got[key], f"{path}.{key}"):
                return told
        return None
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for number, (one, other) in enumerate(zip(expected, got, strict=True)):
            if told := _missing(one, other, f"{path}[{number}]"):
                return told
        return None
    same = expected == got and isinstance(expected, bool) == isinstance(got, bool)
    return None if same else f"expected {path} = {json.dumps(expected)}, got {json.dumps(got)}"
