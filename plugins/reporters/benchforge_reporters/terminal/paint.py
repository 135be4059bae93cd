"""Colours of a terminal: each has one meaning, and none is needed to understand a text."""

import textwrap
from dataclasses import dataclass
from typing import Final, Literal

from benchforge.plugin import safe

Meaning = Literal["plain", "heading", "aside", "good", "limits", "bad", "do"]
_CODES: Final[dict[Meaning, str]] = {
    "plain": "",
    "heading": "1",
    "aside": "2",
    "good": "32",
    "limits": "33",
    "bad": "1;31",
    "do": "36",
}
_RUN: Final = "run SUITE"  # at the end of a run, benchforge writes the file there
_BLANK: Final = "\N{NO-BREAK SPACE}"
_UNBROKEN: Final = _RUN.replace(" ", _BLANK)
NARROWEST: Final = 20  # columns: narrower texts are not made


@dataclass(frozen=True)
class Paint:
    """Texts of one line each, made safe, as wide as a terminal, in colours if it has them."""

    width: int | None
    "Columns; None for any number."
    colour: bool

    def of(self, meaning: Meaning, text: str) -> str:
        """Return a text in the colour of its meaning."""
        painted = self.colour and text and _CODES[meaning]
        return f"\x1b[{_CODES[meaning]}m{text}\x1b[0m" if painted else text

    def wrapped(self, text: str, first: str = "", rest: str = "  ") -> list[str]:
        """Return a text in lines that begin with `first`, and from the second on with `rest`."""
        text = safe.line(text)
        if self.width is None or len(first) + len(text) <= self.width:
            return [first + text]
        lines = textwrap.wrap(
            text.replace(" %", f"{_BLANK}%").replace(_RUN, _UNBROKEN),
            max(self.width, NARROWEST),
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [line.replace(f"{_BLANK}%", " %").replace(_UNBROKEN, _RUN) for line in lines]

    def begun(
        self, head: tuple[Meaning, str], meaning: Meaning, text: str, start: str, rest: str = "  "
    ) -> list[str]:
        """Return a text in lines; `head`, with which `start` begins, has another colour."""
        first, *more = self.wrapped(text, start, rest)
        colour, word = head
        lines = (self.of(meaning, line) for line in (first[len(word) :], *more))
        return [self.of(colour, word) + next(lines), *lines]

    def lines(self, meaning: Meaning, *texts: str, first: str = "", rest: str = "  ") -> list[str]:
        """Return texts that are not empty in as many lines as they take, in a colour."""
        wrapped = (self.wrapped(text, first, rest) for text in texts if text)
        return [self.of(meaning, line) for lines in wrapped for line in lines]
