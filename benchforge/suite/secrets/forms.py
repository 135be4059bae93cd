"""The forms in which programs write a text: plain, escaped, URL-encoded, base64."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from html import escape

SHORTEST = 8
"Characters of a secret: shorter ones stand in words and numbers that are none."

_BASE64 = "[A-Za-z0-9+/_-]"
_LEAST_RUN = 4  # characters: shorter ones stand in every text, and would tell nothing
_QUOTED_BY_SHELL = ("'\"'\"'", "'\\''")


@lru_cache(maxsize=1024)
def forms(secret: str) -> tuple["Form", ...]:
    """Return what finds a text in each of its forms."""
    encodings = {secret.encode(errors="surrogatepass")}
    if not secret.isascii() and max(secret) <= "\xff":  # so HTTP libraries send headers
        encodings.add(secret.encode("latin-1"))
    long = len(secret) >= SHORTEST
    coded = {form for data in encodings for form in _in_base64(data) if long}
    return (Form(secret, _escaped(secret)), *sorted(coded, key=lambda form: form.text))


class Form:
    """One form of a text, with a pattern for all ways in which it is escaped."""

    def __init__(self, text: str, pattern: str) -> None:
        self.text = text
        self.pattern = pattern
        runs = re.findall("[A-Za-z0-9]+", text)
        longest = max(runs, key=len, default="")
        self._run = longest if len(longest) >= _LEAST_RUN else ""
        "Nobody escapes letters and digits."

    def may_be_in(self, text: str) -> bool:
        """Whether it is worth looking, which takes long: False is certain."""
        return self._run in text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.pattern == other.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)


def _escaped(text: str) -> str:
    pattern = "".join(map(_character, text))
    if re.fullmatch(r"[\d.]+", text, re.ASCII):  # no piece of a number that was measured
        return rf"(?<![\d.]){pattern}(?![\d])"
    return pattern


@lru_cache(maxsize=1024)
def _character(char: str) -> str:
    """Return a pattern for a character as it is, and as JSON, URLs, HTML and shells write it."""
    if char.isascii() and char.isalnum():
        return char
    ways = [rf"\\*{re.escape(char)}", *map(re.escape, _QUOTED_BY_SHELL if char == "'" else ())]
    for data in {char.encode(errors="surrogatepass"), char.encode("latin-1", errors="ignore")}:
        # Each percent sign may have been encoded again.
        ways += ["".join(rf"%(?:25)*(?i:{byte:02x})" for byte in data)] if data else []
        ways += ["".join(rf"\\+(?:x(?i:{byte:02x})|{byte:03o})" for byte in data)] if data else []
    in_json = json.dumps(char)[1:-1]
    if in_json.startswith("\\"):
        ways.append(r"\\+" + _any_case(in_json.lstrip("\\")))
    ways.append(rf"\\+u(?:(?i:{ord(char):04x})|\{{(?i:0*{ord(char):x})\}})")
    ways.append(rf"\\+U(?i:{ord(char):08x})")
    if "\x7f" < char <= "\xff":  # a byte that is no UTF-8, as `redacted_bytes` reads it
        ways.append(chr(0xDC00 + ord(char)))
    ways.append(rf"&#(?:0*{ord(char)}|[xX]0*(?i:{ord(char):x}));")
    if (in_html := escape(char)) != char:
        ways.append(re.escape(in_html))
    if char == " ":
        ways.append(r"\+")
    return f"(?:{'|'.join(dict.fromkeys(ways))})"


def _any_case(escape_: str) -> str:
    """Return a pattern of what stands behind a backslash in JSON: hexadecimal in any case."""
    if not escape_.startswith("u"):
        return re.escape(escape_)
    return r"\\+".join(rf"u(?i:{code})" for code in re.findall("u([0-9a-f]{4})", escape_))


def _in_base64(data: bytes) -> Iterator[Form]:
    """Yield the characters that stand for some bytes, wherever they begin in what is encoded."""
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()
        bits = 8 * (before + len(data))
        first, end = -(-8 * before // 6), bits // 6
        text = whole[first:end]
        pattern = "".join(map(_of_base64, text))
        # The characters beside it hold bits of it too.
        head = _BASE64 if before else ""
        tail = f"{_BASE64}?" if bits % 6 else ""
        yield Form(text, f"{head}{pattern}{tail}(?:=|%3D){{0,2}}")


def _of_base64(char: str) -> str:
    if char == "+":
        return "(?:[+-]|%2[Bb])"
    if char == "/":
        return r"(?:\\*/|_|%2[Ff])"
    return char
