"""Whether a reader may quote the answers of a result, in a word."""

from typing import Literal

from benchforge.plugin import readable
from benchforge_reporters.document.causes import CauseTexts


def verdict(causes: CauseTexts, *, smoke: bool) -> tuple[Literal["good", "bad"], str]:
    """Return whether the answers can be believed: good or bad, and a sentence."""
    if smoke:
        return "bad", "No: this was a smoke run."
    kinds = [text.kind for text in causes.all]
    if invalid := kinds.count("invalid"):
        make = "makes" if invalid == 1 else "make"
        return "bad", f"Not all of it: {readable.counted(invalid, 'cause')} {make} numbers invalid."
    if limits := kinds.count("limits"):
        return "good", f"Yes, with {readable.counted(limits, 'reservation')}."
    return "good", "Yes."
